import type { ArtifactId, OperationId, SessionId, TaskId } from "../../core/ids.ts";
import type { Artifact } from "../../core/events/event.ts";
import type { EventDraft, EventEnvelope } from "../../core/events/envelope.ts";
import type { Message } from "../../core/conversation/message.ts";
import type { StorageError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type {
  OperationDetail,
  Page,
  SessionSummary,
  TaskDetail,
  TaskSummary,
} from "../../core/port/read_models.ts";

/** A position in a listing: opaque to callers; null asks for the first page. */
export type Cursor = string | null;

/**
 * The durable journal. `append` resolves only after SQLite confirmed the commit, and rejects the
 * whole batch or none of it; a batch is one transaction. Guards run inside the transaction: a
 * transition the state machine does not have, or a grant already consumed, fails the batch with
 * `invalid_transition` and leaves nothing behind.
 */
export interface JournalWriter {
  append(
    drafts: readonly EventDraft[],
  ): Promise<Result<{ readonly lastSequence: number }, StorageError>>;
  /**
   * Writes a private blob (temporary, fsync, rename, fsync of the directory). The caller records
   * `artifact_recorded` afterwards, so a committed reference always has its content.
   */
  putArtifact(
    artifact: Omit<Artifact, "digest" | "sizeBytes">,
    bytes: Uint8Array,
  ): Promise<Result<Artifact, StorageError>>;
}

/** Bounded reads on a read-only connection. */
export interface JournalReader {
  tasks(cursor: Cursor, limit: number): Promise<Result<Page<TaskSummary>, StorageError>>;
  task(id: TaskId): Promise<Result<TaskDetail | null, StorageError>>;
  operations(
    taskId: TaskId,
    options: { readonly after: OperationId | null; readonly limit: number },
  ): Promise<Result<Page<OperationDetail>, StorageError>>;
  sessions(cursor: Cursor, limit: number): Promise<Result<Page<SessionSummary>, StorageError>>;
  /** Messages of a session in order, at most `maxBytes` of content from the newest back. */
  messages(
    sessionId: SessionId,
    maxBytes: number,
  ): Promise<
    Result<{ readonly messages: readonly Message[]; readonly cut: boolean }, StorageError>
  >;
  events(
    taskId: TaskId,
    options: { readonly afterSequence: number; readonly limit: number },
  ): Promise<Result<Page<EventEnvelope>, StorageError>>;
  artifact(id: ArtifactId): Promise<Result<Uint8Array | null, StorageError>>;
}
