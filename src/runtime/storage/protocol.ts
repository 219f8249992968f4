import type { Message } from "../../core/conversation/message.ts";
import type { StorageError } from "../../core/errors.ts";
import type { EventEnvelope } from "../../core/events/envelope.ts";
import type { Artifact } from "../../core/events/event.ts";
import type { ArtifactId, OperationId, SessionId, TaskId } from "../../core/ids.ts";
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
import type { Result } from "../../core/result.ts";
import type { Unfinished } from "./journal.ts";

/**
 * What goes between the main isolate and the store worker. Every request has an id and gets exactly
 * one answer with the same id; requests are taken in order.
 */

/** `write`: the workspace's owner. `read`: inspection, which opens no writing connection. */
export type StoreMode = "write" | "read";

/** `copy`: inspection of a private copy, which may be brought to the present version. */
export type OpenMode = StoreMode | "copy";

export type StoreRequest =
  | {
    readonly type: "open";
    readonly mode: OpenMode;
    /** Null when there is no database yet, which only a reader accepts: it reads as empty. */
    readonly databasePath: string | null;
    readonly artifactsPath: string;
    /** Free space of the file system, which a migration needs; null when it is not known. */
    readonly availableBytes: number | null;
  }
  /** `drafts` is the JSON of `EventDraft[]`: measured once, copied once. */
  | { readonly type: "append"; readonly drafts: string }
  | {
    readonly type: "put_artifact";
    readonly artifact: Omit<Artifact, "digest" | "sizeBytes">;
    readonly bytes: Uint8Array;
  }
  | {
    readonly type: "tasks";
    readonly cursor: string | null;
    readonly limit: number;
    readonly ownerAlive: boolean;
  }
  | { readonly type: "task"; readonly id: TaskId; readonly ownerAlive: boolean }
  | {
    readonly type: "operations";
    readonly taskId: TaskId;
    readonly after: OperationId | null;
    readonly limit: number;
    readonly ownerAlive: boolean;
  }
  | {
    readonly type: "call_operations";
    readonly sessionId: SessionId;
    readonly callIds: readonly string[];
    readonly ownerAlive: boolean;
  }
  | { readonly type: "operation"; readonly id: OperationId; readonly ownerAlive: boolean }
  | {
    readonly type: "grants";
    readonly taskId: TaskId | null;
    readonly cursor: string | null;
    readonly limit: number;
  }
  | { readonly type: "sessions"; readonly cursor: string | null; readonly limit: number }
  | { readonly type: "messages"; readonly sessionId: SessionId; readonly maxBytes: number }
  | {
    readonly type: "message_page";
    readonly sessionId: SessionId;
    readonly cursor: string | null;
    readonly limit: number;
  }
  | {
    readonly type: "events";
    readonly taskId: TaskId;
    readonly afterSequence: number;
    readonly limit: number;
  }
  | { readonly type: "artifact"; readonly id: ArtifactId }
  | { readonly type: "unfinished" }
  | { readonly type: "use" }
  | { readonly type: "history"; readonly cursor: string | null; readonly limit: number }
  | { readonly type: "purge_preview"; readonly sessionId: SessionId }
  | { readonly type: "remove_purged" }
  | { readonly type: "leftovers"; readonly remove: boolean }
  | { readonly type: "compact" }
  | { readonly type: "close" };

/** The answer to each request type. */
export interface StoreReplies {
  readonly open: null;
  readonly append: { readonly lastSequence: number };
  readonly put_artifact: Artifact;
  readonly tasks: Page<TaskSummary>;
  readonly task: TaskDetail | null;
  readonly operations: Page<OperationDetail>;
  readonly call_operations: readonly OperationDetail[];
  readonly operation: { readonly taskId: TaskId; readonly operation: OperationDetail } | null;
  readonly grants: Page<GrantDetail>;
  readonly sessions: Page<SessionSummary>;
  readonly messages: { readonly messages: readonly Message[]; readonly cut: boolean };
  readonly message_page: Page<Message>;
  readonly events: Page<EventEnvelope>;
  readonly artifact: Uint8Array | null;
  readonly unfinished: Unfinished;
  readonly use: StorageUse;
  readonly history: Page<SessionHistory>;
  /** Null for a session the journal does not know. */
  readonly purge_preview: PurgePreview | null;
  readonly remove_purged: RemovedFiles;
  readonly leftovers: Leftovers;
  readonly compact: null;
  readonly close: null;
}

export interface NumberedRequest {
  readonly id: number;
  readonly request: StoreRequest;
}

export interface NumberedReply {
  readonly id: number;
  /** A value of `StoreReplies` for the type of the request with this id. */
  readonly result: Result<unknown, StorageError>;
}
