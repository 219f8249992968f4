import type { AnswerEnd, Message } from "../conversation/message.ts";
import type { MessageId, SessionId, TaskId } from "../ids.ts";
import { utf8Length } from "../text/truncate.ts";
import type { DomainEvent } from "./event.ts";

/**
 * An event as its row keeps it: everything but the contents of messages, which are kept once, in
 * the message itself. In their place stands their size.
 */
export type RecordedEvent =
  | Exclude<
    DomainEvent,
    { readonly type: "message_recorded" | "message_checkpointed" | "message_completed" }
  >
  | {
    readonly type: "message_recorded";
    readonly messageId: MessageId;
    readonly sessionId: SessionId;
    readonly taskId: TaskId;
    readonly role: Message["role"];
    /** UTF-8 bytes of the message as JSON. */
    readonly contentBytes: number;
  }
  | {
    readonly type: "message_checkpointed";
    readonly messageId: MessageId;
    /** UTF-16 units, as in the event. */
    readonly offset: number;
    /** UTF-16 units appended: the next checkpoint begins at `offset + units`. */
    readonly units: number;
    /** UTF-8 bytes of the text. */
    readonly textBytes: number;
  }
  | {
    readonly type: "message_completed";
    readonly messageId: MessageId;
    readonly end: AnswerEnd;
    /** UTF-8 bytes of the message as JSON. */
    readonly contentBytes: number;
  };

/** Takes the contents of messages out of an event. */
export function recordedEvent(event: DomainEvent): RecordedEvent {
  switch (event.type) {
    case "message_recorded": {
      const { type, messageId, sessionId, taskId, message } = event;
      const contentBytes = utf8Length(JSON.stringify(message));
      return { type, messageId, sessionId, taskId, role: message.role, contentBytes };
    }
    case "message_checkpointed": {
      const { type, messageId, offset, text } = event;
      return { type, messageId, offset, units: text.length, textBytes: utf8Length(text) };
    }
    case "message_completed": {
      const { type, messageId, end, message } = event;
      return { type, messageId, end, contentBytes: utf8Length(JSON.stringify(message)) };
    }
    case "workspace_recorded":
    case "session_created":
    case "task_created":
    case "task_moved":
    case "task_ended":
    case "budget_consumed":
    case "limits_extended":
    case "yolo_set":
    case "intervention_queued":
    case "intervention_edited":
    case "intervention_removed":
    case "intervention_consumed":
    case "attempt_started":
    case "attempt_ended":
    case "config_recorded":
    case "baseline_recorded":
    case "message_started":
    case "request_reserved":
    case "request_dispatched":
    case "request_ended":
    case "operation_requested":
    case "operation_authorized":
    case "operation_denied":
    case "operation_intended":
    case "operation_dispatched":
    case "process_started":
    case "processes_left":
    case "operation_finished":
    case "operation_unknown":
    case "operation_settled":
    case "operation_cancelled":
    case "grant_issued":
    case "grant_ended":
    case "artifact_recorded":
    case "verification_ended":
    case "cancel_requested":
    case "force_stop_requested":
    case "history_purged":
      return event;
  }
}
