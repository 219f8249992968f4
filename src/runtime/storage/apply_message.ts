import type { DomainEvent } from "../../core/events/event.ts";
import { utf8Length } from "../../core/text/truncate.ts";
import type { MessageId, SessionId, TaskId } from "../../core/ids.ts";
import { type Applying, known, type Owner, reject, taskOwner } from "./_applying.ts";
import { committedText } from "./read_messages.ts";
import type { Row } from "./statements.ts";

type MessageEvent = Extract<
  DomainEvent,
  {
    type:
      | "message_recorded"
      | "message_started"
      | "message_checkpointed"
      | "message_completed";
  }
>;

/** Messages: recorded whole, or streamed from its start over checkpoints to its completion. */
export function applyMessage(at: Applying, event: MessageEvent): Owner {
  switch (event.type) {
    case "message_recorded": {
      const owner = conversationOwner(at, event);
      const body = JSON.stringify(event.message);
      at.statements.run(
        `INSERT INTO messages (id, session_id, task_id, role, state, body, content_bytes,
           committed_units, started_wall_ms, started_sequence)
         VALUES (?, ?, ?, ?, 'complete', ?, ?, ?, ?, ?)`,
        event.messageId,
        event.sessionId,
        event.taskId,
        event.message.role,
        body,
        utf8Length(body),
        event.message.text.length,
        at.wallMs,
        at.sequence,
      );
      return owner;
    }
    case "message_started": {
      const owner = conversationOwner(at, event);
      at.statements.run(
        `INSERT INTO messages (id, session_id, task_id, request_id, role, state, content_bytes,
           committed_units, started_wall_ms, started_sequence)
         VALUES (?, ?, ?, ?, 'assistant', 'incomplete', 0, 0, ?, ?)`,
        event.messageId,
        event.sessionId,
        event.taskId,
        event.requestId,
        at.wallMs,
        at.sequence,
      );
      return owner;
    }
    case "message_checkpointed":
      return checkpoint(at, event);
    case "message_completed":
      return complete(at, event);
  }
}

function checkpoint(
  at: Applying,
  { messageId, offset, text }: Extract<MessageEvent, { type: "message_checkpointed" }>,
): Owner {
  const message = incomplete(at, messageId);
  const committed = message.integer("committed_units");
  if (offset !== committed) {
    reject(at, `Cannot append to message "${messageId}" at ${offset}: it ends at ${committed}`);
  }
  if (text !== "") {
    at.statements.run(
      "INSERT INTO message_chunks (message_id, offset_units, text) VALUES (?, ?, ?)",
      messageId,
      offset,
      JSON.stringify(text),
    );
    at.statements.run(
      `UPDATE messages SET committed_units = committed_units + ?,
         content_bytes = content_bytes + ? WHERE id = ?`,
      text.length,
      utf8Length(text),
      messageId,
    );
  }
  return taskOwner(at, message.id("task_id"));
}

function complete(
  at: Applying,
  { messageId, message, end }: Extract<MessageEvent, { type: "message_completed" }>,
): Owner {
  const row = incomplete(at, messageId);
  if (message.role !== "assistant" || message.end !== end) {
    reject(at, `Cannot complete message "${messageId}": it is no answer that ended as "${end}"`);
  }
  // What was committed was shown and may have been acted on: an end cannot take it back.
  if (!message.text.startsWith(committedText(at.statements, messageId))) {
    reject(at, `Cannot complete message "${messageId}": its text differs from what is committed`);
  }
  const body = JSON.stringify(message);
  at.statements.run(
    `UPDATE messages SET state = 'complete', body = ?, content_bytes = ?, committed_units = ?
     WHERE id = ?`,
    body,
    utf8Length(body),
    message.text.length,
    messageId,
  );
  at.statements.run("DELETE FROM message_chunks WHERE message_id = ?", messageId);
  return taskOwner(at, row.id("task_id"));
}

function incomplete(at: Applying, messageId: MessageId): Row {
  const row = at.statements.get(
    "SELECT state, committed_units, task_id FROM messages WHERE id = ?",
    messageId,
  );
  const message = known(at, "message", { id: messageId, row });
  if (message.text("state") !== "incomplete") {
    reject(at, `Cannot change message "${messageId}": it is complete`);
  }
  return message;
}

function conversationOwner(
  at: Applying,
  { taskId, sessionId }: { readonly taskId: TaskId; readonly sessionId: SessionId },
): Owner {
  const owner = taskOwner(at, taskId);
  if (owner.sessionId !== sessionId) {
    reject(at, `Cannot put a message of task "${taskId}" into session "${sessionId}"`);
  }
  return owner;
}
