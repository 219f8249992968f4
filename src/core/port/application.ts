import type { Message } from "../conversation/message.ts";
import type { FluzoError } from "../errors.ts";
import type { EventEnvelope } from "../events/envelope.ts";
import type { ArtifactId, CommandId, MessageId, OperationId, SessionId, TaskId } from "../ids.ts";
import type { GrantRequest } from "../policy/grant_request.ts";
import type { Result } from "../result.ts";
import type {
  OperationDetail,
  Page,
  SessionSummary,
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
    readonly onAsk: "block" | "deny";
    /** Argument vector that replaces `[verify]`; null keeps the configured one. */
    readonly verification: readonly string[] | null;
    readonly yolo: boolean;
  }
  | {
    readonly type: "cancel_task";
    readonly commandId: CommandId;
    readonly taskId: TaskId;
    readonly by: "user" | "SIGINT" | "SIGTERM" | "SIGHUP";
  };

export interface CommandReplies {
  readonly start_task: { readonly taskId: TaskId; readonly sessionId: SessionId };
  readonly cancel_task: { readonly taskId: TaskId };
}

export type Query =
  | { readonly type: "list_tasks"; readonly cursor: string | null; readonly limit: number }
  | { readonly type: "show_task"; readonly taskId: TaskId }
  | {
    readonly type: "list_operations";
    readonly taskId: TaskId;
    readonly after: OperationId | null;
    readonly limit: number;
  }
  | { readonly type: "list_sessions"; readonly cursor: string | null; readonly limit: number }
  /** The newest messages of a session, at most `maxBytes` of them. */
  | { readonly type: "read_session"; readonly sessionId: SessionId; readonly maxBytes: number }
  | {
    readonly type: "list_events";
    readonly taskId: TaskId;
    readonly afterSequence: number;
    readonly limit: number;
  }
  | { readonly type: "read_artifact"; readonly artifactId: ArtifactId };

export interface QueryReplies {
  readonly list_tasks: Page<TaskSummary>;
  readonly show_task: TaskDetail;
  readonly list_operations: Page<OperationDetail>;
  readonly list_sessions: Page<SessionSummary>;
  readonly read_session: {
    readonly messages: readonly Message[];
    /** Older messages were left out. */
    readonly cut: boolean;
  };
  readonly list_events: Page<EventEnvelope>;
  /** The content as text; bytes that are not UTF-8 are replaced. */
  readonly read_artifact: { readonly text: string };
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
  /** Provisional output of a running process, sanitised. */
  | { readonly type: "output"; readonly operationId: OperationId; readonly text: string }
  /** Updates were left out; query events after `sinceSequence`. */
  | { readonly type: "lagged"; readonly sinceSequence: number };
