import type {
  ArtifactId,
  AttemptId,
  GrantId,
  InstanceId,
  MessageId,
  OperationId,
  RequestId,
  SessionId,
  TaskId,
} from "../../core/ids.ts";
import type { LeftProcesses, ProcessIdentity } from "../../core/left_processes.ts";
import type { OperationState } from "../../core/lifecycle/operation.ts";
import type { RequestState } from "../../core/lifecycle/request.ts";
import type { TaskReason, TaskState } from "../../core/lifecycle/task.ts";
import type { Digest } from "../../core/digest.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import type { Artifact } from "../../core/events/event.ts";
import type { EventDraft, EventEnvelope } from "../../core/events/envelope.ts";
import type { Message } from "../../core/conversation/message.ts";
import type { StorageError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type {
  GrantDetail,
  Leftovers,
  OperationDetail,
  Page,
  PurgePreview,
  RemovedFiles,
  SessionHistory,
  SessionSummary,
  StorageUse,
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

/** What the journal holds open although whoever began it may be gone. Oldest first. */
export interface Unfinished {
  /** Tasks whose last move says that somebody is at work. */
  readonly tasks: readonly {
    readonly id: TaskId;
    readonly sessionId: SessionId;
    readonly state: TaskState;
    readonly reason: TaskReason | null;
  }[];
  readonly attempts: readonly {
    readonly id: AttemptId;
    readonly taskId: TaskId;
    readonly traceId: string;
    readonly instanceId: InstanceId;
  }[];
  readonly operations: readonly {
    readonly id: OperationId;
    readonly taskId: TaskId;
    readonly attemptId: AttemptId;
    readonly tool: string;
    readonly state: OperationState;
    /** What it is once its owner is gone (`operationAfterLoss`). */
    readonly afterLoss: OperationState;
    readonly scope: OperationScope;
    /** What the intent said the file has before and after; null where it did not know. */
    readonly before: Digest | "absent" | null;
    readonly after: Digest | "absent" | null;
    /** The bytes as they were before; null where none were kept. */
    readonly preImage: ArtifactId | null;
  }[];
  readonly requests: readonly {
    readonly id: RequestId;
    readonly taskId: TaskId;
    readonly attemptId: AttemptId;
    readonly capacityId: string;
    readonly pool: string;
    readonly state: RequestState;
  }[];
  readonly messages: readonly {
    readonly id: MessageId;
    readonly sessionId: SessionId;
    readonly taskId: TaskId;
    readonly requestId: RequestId;
    /** The committed text, from the beginning without a gap. */
    readonly text: string;
  }[];
  /** Begun operations that may have processes: those of open attempts, and those with known ones. */
  readonly processes: readonly {
    readonly id: OperationId;
    /** The first process; null when it was not recorded, or the operation has none. */
    readonly first: ProcessIdentity | null;
    readonly left: LeftProcesses;
  }[];
  /** Active grants: recovery ends them. */
  readonly grants: readonly { readonly id: GrantId; readonly taskId: TaskId }[];
  /** Files of deleted sessions are still to be removed. */
  readonly purged: boolean;
  /** True when a bound cut one of the lists: write down what is here, then ask again. */
  readonly more: boolean;
}

/**
 * Bounded reads on a read-only connection. Where nobody owns the workspace any more, what is
 * unfinished is told as `derived`; the caller of `openStore` says whether somebody does.
 */
export interface JournalReader {
  tasks(cursor: Cursor, limit: number): Promise<Result<Page<TaskSummary>, StorageError>>;
  task(id: TaskId): Promise<Result<TaskDetail | null, StorageError>>;
  operations(
    taskId: TaskId,
    options: { readonly after: OperationId | null; readonly limit: number },
  ): Promise<Result<Page<OperationDetail>, StorageError>>;
  /** Operations of a session that the named calls led to, in the order they were requested. */
  callOperations(
    sessionId: SessionId,
    callIds: readonly string[],
  ): Promise<Result<readonly OperationDetail[], StorageError>>;
  /** One operation; null for an id the journal does not know. */
  operation(id: OperationId): Promise<
    Result<
      { readonly taskId: TaskId; readonly operation: OperationDetail } | null,
      StorageError
    >
  >;
  /** Grants of a task, or of all tasks, newest first, ended ones included. */
  grants(
    taskId: TaskId | null,
    page: { readonly cursor: Cursor; readonly limit: number },
  ): Promise<Result<Page<GrantDetail>, StorageError>>;
  sessions(cursor: Cursor, limit: number): Promise<Result<Page<SessionSummary>, StorageError>>;
  /** Messages of a session in order, at most `maxBytes` of content from the newest back. */
  messages(
    sessionId: SessionId,
    maxBytes: number,
  ): Promise<
    Result<{ readonly messages: readonly Message[]; readonly cut: boolean }, StorageError>
  >;
  /** Messages of a session in order, oldest first, a bounded page at a time. */
  messagePage(
    sessionId: SessionId,
    page: { readonly cursor: Cursor; readonly limit: number },
  ): Promise<Result<Page<Message>, StorageError>>;
  events(
    taskId: TaskId,
    options: { readonly afterSequence: number; readonly limit: number },
  ): Promise<Result<Page<EventEnvelope>, StorageError>>;
  /**
   * The content, checked against its digest; null for an id the journal does not know. Missing or
   * altered content is `corrupt`, never an empty result.
   */
  artifact(id: ArtifactId): Promise<Result<Uint8Array | null, StorageError>>;
  /** Material for the next owner, which persists what its predecessor left open. */
  unfinished(): Promise<Result<Unfinished, StorageError>>;
  /** What the journal takes up; the same little work however much that is. */
  use(): Promise<Result<StorageUse, StorageError>>;
  /** Sessions with what they take up, newest first. */
  history(cursor: Cursor, limit: number): Promise<Result<Page<SessionHistory>, StorageError>>;
  /** What deleting a session would come to; null for one the journal does not know. */
  purgePreview(sessionId: SessionId): Promise<Result<PurgePreview | null, StorageError>>;
  /** Files that no record needs; `busy` while a task is at work. */
  leftovers(): Promise<Result<Leftovers, StorageError>>;
}

/** Getting rid of what records that are gone have left on the disk. */
export interface JournalCleaner {
  /** Removes the files of deleted sessions. What fails stays listed, and is tried again. */
  removePurged(): Promise<Result<RemovedFiles, StorageError>>;
  /** Removes what no record needs; `busy` while a task is at work. */
  removeLeftovers(): Promise<Result<Leftovers, StorageError>>;
  /** Gives free pages back to the file system. */
  compact(): Promise<Result<null, StorageError>>;
}
