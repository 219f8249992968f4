import type { Message } from "../conversation/message.ts";
import type { CancelledError, FluzoError } from "../errors.ts";
import type { EventEnvelope } from "../events/envelope.ts";
import type { SessionContents } from "../events/event.ts";
import type { BudgetLimits } from "../budget/budget.ts";
import type {
  ArtifactId,
  CommandId,
  GrantId,
  InterventionId,
  MessageId,
  OperationId,
  SessionId,
  TaskId,
} from "../ids.ts";
import type { GrantRequest } from "../policy/grant_request.ts";
import type { Result } from "../result.ts";
import type {
  GrantDetail,
  Leftovers,
  OperationDetail,
  OutputTail,
  Page,
  PurgePreview,
  QueuedMessage,
  RemovedFiles,
  SessionHistory,
  SessionSummary,
  StorageUse,
  TaskDetail,
  TaskSummary,
} from "./read_models.ts";

/**
 * The application port: all that a screen, a headless command or a control client may ask of a
 * runtime. Everything that crosses it is plain data that survives a JSON round trip. An accepted
 * command means "accepted", never "done": the outcome is read from updates or queries.
 */
export interface ApplicationPort {
  execute<T extends Command["type"]>(
    command: Extract<Command, { type: T }>,
  ): Promise<Result<CommandReplies[T], FluzoError>>;
  query<T extends Query["type"]>(
    query: Extract<Query, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>>;
  /**
   * Updates of one task from now on; the snapshot to start from is a query. Bounded: a slow reader
   * is told `lagged` and asks again from the sequence it has.
   */
  subscribe(taskId: TaskId): Subscription;
}

export interface Subscription extends AsyncIterable<readonly Update[]> {
  /** Ends the iteration. Never cancels the task. */
  close(): void;
}

export type Command =
  | {
    readonly type: "start_task";
    /** A repeated id never starts a second task. */
    readonly commandId: CommandId;
    readonly goal: string;
    /** Null begins a session; otherwise the conversation goes on there. */
    readonly sessionId: SessionId | null;
    /** A key below `models`; null takes `agent.model`. */
    readonly model: string | null;
    readonly grants: readonly GrantRequest[];
    /** What happens to an operation that needs an approval nobody can give now. */
    readonly onAsk: OnAsk;
    /** Argument vector that replaces `[verify]`; null keeps the configured one. */
    readonly verification: readonly string[] | null;
    readonly yolo: boolean;
  }
  /**
   * Goes on with a blocked task in a new attempt. Grants and YOLO of earlier attempts do not carry
   * over; answers given to what blocked it do.
   */
  | {
    readonly type: "resume_task";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly model: string | null;
    readonly grants: readonly GrantRequest[];
    readonly onAsk: OnAsk;
    readonly yolo: boolean;
    /** The user's decision on every operation whose outcome is unknown. */
    readonly decisions: readonly UnknownDecision[];
  }
  /** Allows one waiting operation, once. `seen` is the `approvalKey` of the scope that was shown. */
  | {
    readonly type: "approve_operation";
    readonly commandId: CommandId;
    readonly operationId: OperationId;
    readonly seen: string;
  }
  /** Refuses one waiting operation; the model is told the reason. */
  | {
    readonly type: "deny_operation";
    readonly commandId: CommandId;
    readonly operationId: OperationId;
    readonly seen: string;
    readonly reason: string;
  }
  | {
    readonly type: "revoke_grant";
    readonly commandId: CommandId;
    readonly grantId: GrantId;
  }
  /** Only for the task at work, and gone with it. */
  | {
    readonly type: "set_yolo";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly on: boolean;
  }
  /** Adds to the limits of a task that is at rest or at work. */
  | {
    readonly type: "extend_task";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly more: Partial<BudgetLimits>;
  }
  /** Says something to the task at work; it reads it at the next safe boundary. */
  | {
    readonly type: "queue_message";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly text: string;
  }
  | {
    readonly type: "edit_message";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly interventionId: InterventionId;
    readonly text: string;
  }
  | {
    readonly type: "remove_message";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly interventionId: InterventionId;
  }
  /** Ends a task: nothing more is begun, and what runs is asked to end. */
  | {
    readonly type: "cancel_task";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly by: CancelledError["by"];
  }
  /** Ends a task like `cancel_task`, and kills what it started instead of waiting for its end. */
  | {
    readonly type: "kill_task";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly by: CancelledError["by"];
  }
  /**
   * Deletes a session with all that belongs to it; nothing brings it back. `seen` is what
   * `preview_purge` showed: another content is not deleted.
   */
  | {
    readonly type: "purge_session";
    readonly commandId: CommandId;
    readonly sessionId: SessionId;
    readonly seen: SessionContents;
  }
  /** Deletes what no record needs: files a kill left, and journals from before a migration. */
  | { readonly type: "purge_leftovers"; readonly commandId: CommandId };

/**
 * What happens to an operation that needs the user's permission: `wait` keeps the task waiting for
 * an answer, `block` stores it and ends the run, `deny` tells the model and goes on.
 */
export type OnAsk = "wait" | "block" | "deny";

/** What to do about an operation whose outcome nobody saw. */
export interface UnknownDecision {
  readonly operationId: OperationId;
  /** `accept` goes on with things as they are; `retry` does the same operation again. */
  readonly decision: "accept" | "retry";
}

export interface CommandReplies {
  readonly start_task: { readonly taskId: TaskId; readonly sessionId: SessionId };
  readonly resume_task: {
    readonly taskId: TaskId;
    readonly sessionId: SessionId;
    /** What is not as the last attempt left it, one line each. */
    readonly differences: readonly string[];
    /** Sequence of the last event before the attempt's own. */
    readonly afterSequence: number;
  };
  readonly approve_operation: { readonly taskId: TaskId; readonly grantId: GrantId };
  readonly deny_operation: { readonly taskId: TaskId };
  readonly revoke_grant: { readonly taskId: TaskId };
  readonly set_yolo: { readonly taskId: TaskId };
  readonly extend_task: { readonly limits: BudgetLimits };
  readonly queue_message: { readonly interventionId: InterventionId };
  readonly edit_message: { readonly interventionId: InterventionId };
  readonly remove_message: { readonly interventionId: InterventionId };
  readonly cancel_task: StopReply;
  readonly kill_task: StopReply;
  readonly purge_session: RemovedFiles;
  readonly purge_leftovers: Leftovers;
}

/** What ending a task came to. */
export interface StopReply {
  readonly taskId: TaskId;
  /** `stopping` works on its end; the others are final. */
  readonly state: "stopping" | "completed" | "failed" | "cancelled";
  /** False when there was nothing to do: it was asked for before, or the task was over. */
  readonly changed: boolean;
}

/** What became of a command whose acknowledgement was lost. */
export type CommandStatus =
  | {
    readonly state: "done";
    readonly reply: Result<CommandReplies[Command["type"]], FluzoError>;
  }
  | { readonly state: "running" }
  /** Never arrived, or so long ago that it is forgotten. */
  | { readonly state: "unknown" };

export type Query =
  | { readonly type: "list_tasks"; readonly cursor: string | null; readonly limit: number }
  | { readonly type: "show_task"; readonly taskId: TaskId }
  | {
    readonly type: "list_operations";
    readonly taskId: TaskId;
    readonly after: OperationId | null;
    readonly limit: number;
  }
  | { readonly type: "show_operation"; readonly operationId: OperationId }
  /** The newest output of an operation that runs here, or ran not long ago. */
  | { readonly type: "read_output"; readonly operationId: OperationId }
  /** Operations that wait for the user's answer, oldest first. */
  | { readonly type: "list_approvals"; readonly taskId: TaskId }
  /** Grants of a task, or of all, newest first, with those that ended. */
  | {
    readonly type: "list_grants";
    readonly taskId: TaskId | null;
    readonly cursor: string | null;
    readonly limit: number;
  }
  /** Messages to the task at work that it has not read yet, in order. */
  | { readonly type: "list_messages"; readonly taskId: TaskId }
  | { readonly type: "list_sessions"; readonly cursor: string | null; readonly limit: number }
  /** The newest messages of a session, at most `maxBytes` of them. */
  | { readonly type: "read_session"; readonly sessionId: SessionId; readonly maxBytes: number }
  /** All messages of a session, oldest first. */
  | {
    readonly type: "page_session";
    readonly sessionId: SessionId;
    readonly cursor: string | null;
    readonly limit: number;
  }
  | {
    readonly type: "list_events";
    readonly taskId: TaskId;
    readonly afterSequence: number;
    readonly limit: number;
  }
  | { readonly type: "read_artifact"; readonly artifactId: ArtifactId }
  /** Sessions with what they take up, newest first. */
  | { readonly type: "list_history"; readonly cursor: string | null; readonly limit: number }
  | { readonly type: "preview_purge"; readonly sessionId: SessionId }
  | { readonly type: "show_storage" }
  /** Refused while a task is at work, which may be writing some. */
  | { readonly type: "find_leftovers" }
  /** What became of a command of this runtime, by its id. */
  | { readonly type: "command_status"; readonly commandId: CommandId };

export interface QueryReplies {
  readonly list_tasks: Page<TaskSummary>;
  readonly show_task: TaskDetail;
  readonly list_operations: Page<OperationDetail>;
  readonly show_operation: { readonly taskId: TaskId; readonly operation: OperationDetail };
  readonly read_output: OutputTail;
  readonly list_approvals: readonly OperationDetail[];
  readonly list_grants: Page<GrantDetail>;
  readonly list_messages: readonly QueuedMessage[];
  readonly list_sessions: Page<SessionSummary>;
  readonly read_session: {
    readonly messages: readonly Message[];
    /** Older messages were left out. */
    readonly cut: boolean;
  };
  readonly page_session: Page<Message>;
  readonly list_events: Page<EventEnvelope>;
  /** The content as text; bytes that are not UTF-8 are replaced. */
  readonly read_artifact: { readonly text: string };
  readonly list_history: Page<SessionHistory>;
  readonly preview_purge: PurgePreview;
  readonly show_storage: StorageUse;
  readonly find_leftovers: Leftovers;
  readonly command_status: CommandStatus;
}

/** What a subscriber sees. Only `event` is durable; everything else may be merged or lost. */
export type Update =
  | { readonly type: "event"; readonly envelope: EventEnvelope }
  /** A whole message that is now in the journal; the event about it has no content. */
  | { readonly type: "message"; readonly messageId: MessageId; readonly message: Message }
  /** Provisional text of a streaming answer, sanitised, contiguous per message and channel. */
  | {
    readonly type: "text";
    readonly messageId: MessageId;
    readonly channel: "answer" | "reasoning";
    readonly text: string;
  }
  | { readonly type: "status"; readonly text: string }
  /** Provisional output of a running process, sanitised; a mark says where text was left out. */
  | { readonly type: "output"; readonly operationId: OperationId; readonly text: string }
  /** Updates were left out; query events after `sinceSequence`. */
  | { readonly type: "lagged"; readonly sinceSequence: number };
