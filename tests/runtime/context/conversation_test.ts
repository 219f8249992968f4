import assert from "node:assert/strict";
import type { AssistantMessage, Message } from "../../../src/core/conversation/message.ts";
import {
  Conversation,
  repairHistory,
  unansweredCalls,
} from "../../../src/runtime/context/conversation.ts";

function assistant(changes: Partial<AssistantMessage>): AssistantMessage {
  return { role: "assistant", text: "", reasoning: "", toolCalls: [], end: "stop", ...changes };
}

function call(id: string) {
  return { id, name: "read", argumentsText: "{}", invalid: null };
}

Deno.test("Conversation knows its size without the history being measured again", () => {
  const conversation = new Conversation([]);
  const empty = conversation.bytes;
  const message: Message = { role: "user", text: "ä".repeat(10) };
  conversation.add(message);
  const grown = conversation.bytes - empty;
  assert.ok(grown >= new TextEncoder().encode(JSON.stringify(message)).length);
  conversation.add(message);
  assert.equal(conversation.bytes - empty, 2 * grown);
});

Deno.test("Conversation corrects its estimate by what the server reported", () => {
  const conversation = new Conversation([]);
  conversation.add({ role: "user", text: "x".repeat(3000) });
  const before = conversation.estimatedTokens;
  conversation.noteReported({ bytes: conversation.bytes, inputTokens: before / 2 });
  assert.ok(Math.abs(conversation.estimatedTokens - before / 2) <= 1);
});

Deno.test("repairHistory() gives a call without result one that says it is unknown", () => {
  const history: Message[] = [
    { role: "user", text: "go" },
    assistant({ toolCalls: [call("c1"), call("c2")], end: "tool_calls" }),
    { role: "tool", callId: "c1", name: "read", text: "ok", outcome: "ok" },
  ];
  const repaired = repairHistory(history);
  const results = repaired.flatMap((m) => m.role === "tool" ? [`${m.callId} ${m.outcome}`] : []);
  assert.deepEqual(results.sort(), ["c1 ok", "c2 interrupted"]);
});

Deno.test("repairHistory() drops calls of an answer that was cut, and empty answers", () => {
  const repaired = repairHistory([
    assistant({ text: "I will", toolCalls: [call("c1")], end: "incomplete" }),
    assistant({ end: "error" }),
  ]);
  assert.deepEqual(repaired, [assistant({ text: "I will", end: "incomplete" })]);
});

Deno.test("unansweredCalls() finds what the newest answer asked for and did not get", () => {
  const messages: Message[] = [
    assistant({ toolCalls: [call("old")], end: "tool_calls" }),
    assistant({ toolCalls: [call("c1"), call("c2")], end: "tool_calls" }),
    { role: "tool", callId: "c1", name: "read", text: "ok", outcome: "ok" },
  ];
  assert.deepEqual(unansweredCalls(messages).map(({ id }) => id), ["c2"]);
  assert.deepEqual(unansweredCalls([]), []);
});
