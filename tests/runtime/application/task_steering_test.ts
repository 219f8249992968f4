import assert from "node:assert/strict";
import { randomIds, systemClock } from "../../../mod.ts";
import { MAX_QUEUED_MESSAGES } from "../../../src/runtime/execution/interventions.ts";
import { call, startTask, TestHost } from "../../support/test_host.ts";

const ids = randomIds(systemClock);
const commandId = () => ids.next("command");

Deno.test("messages to a running task are read in order, changed and taken back until then", async () => {
  await using test = await TestHost.open([
    call("shell", { script: "true" }),
    { text: "a" },
  ]);
  const { port } = test.host;
  const started = await port.execute(startTask({ onAsk: "wait" }));
  assert.ok(started.ok);
  const { taskId } = started.value;
  await test.until(taskId, "operation_requested");
  const texts = ["first", "second", "third"];
  const queued = [];
  for (const text of texts) {
    const reply = await port.execute({
      type: "queue_message",
      commandId: commandId(),
      taskId,
      text,
    });
    assert.ok(reply.ok);
    queued.push(reply.value.interventionId);
  }
  const [, second, third] = queued;
  assert.ok(second !== undefined && third !== undefined);
  assert.ok(
    (await port.execute({
      type: "edit_message",
      commandId: commandId(),
      taskId,
      interventionId: second,
      text: "second, better",
    })).ok,
  );
  assert.ok(
    (await port.execute({
      type: "remove_message",
      commandId: commandId(),
      taskId,
      interventionId: third,
    })).ok,
  );
  const waiting = await port.query({ type: "list_messages", taskId });
  assert.ok(waiting.ok);
  assert.deepEqual(waiting.value.map(({ text }) => text), ["first", "second, better"]);
  const approvals = await port.query({ type: "list_approvals", taskId });
  assert.ok(approvals.ok);
  const { approvalKey } = await import("../../../src/core/policy/scope.ts");
  const [operation] = approvals.value;
  assert.ok(operation !== undefined);
  await port.execute({
    type: "approve_operation",
    commandId: commandId(),
    operationId: operation.id,
    seen: approvalKey(operation.scope),
  });
  await test.until(taskId, "task_ended");
  const last = test.adapter.requests[1]?.messages.slice(-2).map(({ text }) => text);
  assert.deepEqual(last, ["first", "second, better"]);
  const late = await port.execute({
    type: "edit_message",
    commandId: commandId(),
    taskId,
    interventionId: second,
    text: "too late",
  });
  assert.ok(!late.ok);
});

Deno.test("the queue of messages is bounded, and an empty one is refused", async () => {
  await using test = await TestHost.open([call("shell", { script: "true" })]);
  const { port } = test.host;
  const started = await port.execute(startTask({ onAsk: "wait" }));
  assert.ok(started.ok);
  const { taskId } = started.value;
  await test.until(taskId, "operation_requested");
  const say = (text: string) =>
    port.execute({ type: "queue_message", commandId: commandId(), taskId, text });
  const empty = await say("  ");
  assert.ok(!empty.ok && empty.error.type === "usage");
  for (let i = 0; i < MAX_QUEUED_MESSAGES; i++) assert.ok((await say(`m${i}`)).ok);
  const full = await say("one more");
  assert.ok(!full.ok && full.error.type === "usage");
});

Deno.test("a circle of calls and a row of failures block the task with the reason", async () => {
  const read = call("read", { path: "a.txt" });
  const list = call("list", {});
  await using circle = await TestHost.open(
    Array.from({ length: 12 }, (_, i) => i % 2 ? list : read),
  );
  const round = await circle.run();
  assert.equal(round.task.reason, "repeated_call");
  assert.equal(circle.adapter.requests.length, 7, "the fourth reading is the seventh call");
  const missing = Array.from({ length: 20 }, (_, i) => call("read", { path: `missing${i}` }));
  await using lost = await TestHost.open(missing);
  const failing = await lost.run();
  assert.equal(failing.task.reason, "no_progress");
  assert.equal(failing.task.result?.consumption.toolCalls, 12);
});
