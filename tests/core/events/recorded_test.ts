import assert from "node:assert/strict";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import { recordedEvent } from "../../../src/core/events/recorded.ts";
import type { MessageId, SessionId, TaskId } from "../../../src/core/ids.ts";

const messageId = "msg" as MessageId;
const sessionId = "ses" as SessionId;
const taskId = "task" as TaskId;

Deno.test("recordedEvent() puts the size of a message in place of its content", () => {
  const message = { role: "user", text: "grüß" } as const;
  assert.deepEqual(
    recordedEvent({ type: "message_recorded", messageId, sessionId, taskId, message }),
    {
      type: "message_recorded",
      messageId,
      sessionId,
      taskId,
      role: "user",
      contentBytes: new TextEncoder().encode(JSON.stringify(message)).length,
    },
  );
  assert.deepEqual(
    recordedEvent({ type: "message_checkpointed", messageId, offset: 4, text: "€a" }),
    { type: "message_checkpointed", messageId, offset: 4, units: 2, textBytes: 4 },
  );
  const answer = {
    role: "assistant",
    text: "secret",
    reasoning: "private",
    toolCalls: [],
    end: "stop",
  } as const;
  assert.deepEqual(
    recordedEvent({ type: "message_completed", messageId, message: answer, end: "stop" }),
    {
      type: "message_completed",
      messageId,
      end: "stop",
      contentBytes: JSON.stringify(answer).length,
    },
  );
});

Deno.test("recordedEvent() leaves every other event as it is", () => {
  const event: DomainEvent = { type: "session_created", sessionId, title: "t" };
  assert.equal(recordedEvent(event), event);
});
