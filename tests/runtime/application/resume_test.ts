import assert from "node:assert/strict";
import { randomIds, systemClock } from "../../../mod.ts";
import type { Message } from "../../../src/core/conversation/message.ts";
import { approvalKey } from "../../../src/core/policy/scope.ts";
import type { OperationDetail } from "../../../src/core/port/read_models.ts";
import { call, resumeTask, TestHost } from "../../support/test_host.ts";

const ids = randomIds(systemClock);
const TOUCH = call("shell", { script: "touch made" });

async function pending(test: TestHost, taskId: OperationDetail["id"] | string) {
  const found = await test.host.port.query({ type: "list_approvals", taskId: taskId as never });
  assert.ok(found.ok);
  const [operation] = found.value;
  assert.ok(operation !== undefined);
  return operation;
}

function approve(test: TestHost, operation: OperationDetail) {
  return test.host.port.execute({
    type: "approve_operation",
    commandId: ids.next("command"),
    operationId: operation.id,
    seen: approvalKey(operation.scope),
  });
}

/** Every call is answered once, before anything else is said: what strict servers demand. */
function checkExchange(messages: readonly Message[]): void {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      assert.ok(open.delete(message.callId), `a result without its call: ${message.text}`);
      continue;
    }
    assert.equal(open.size, 0, "a call without a result before the next message");
    if (message.role === "assistant") { for (const { id } of message.toolCalls) open.add(id); }
  }
  assert.equal(open.size, 0);
}

Deno.test("a blocked command that is approved later is done when the task is resumed", async () => {
  await using first = await TestHost.open([
    { calls: [...TOUCH.calls ?? [], { name: "read", arguments: { path: "a.txt" } }] },
  ]);
  const blocked = await first.run();
  assert.equal(blocked.task.state, "blocked");
  await using second = await first.reopen([]);
  assert.ok((await approve(second, await pending(second, blocked.taskId))).ok);
  const twice = await approve(second, await pending(second, blocked.taskId));
  assert.ok(!twice.ok && twice.error.type === "stale_answer");
  assert.equal(second.folder.exists("made"), false, "an approval executes nothing");
  await using third = await second.reopen([{ text: "done" }]);
  const { task } = await third.resume(blocked.taskId);
  assert.equal(task.state, "completed");
  assert.ok(third.folder.exists("made"));
  assert.equal(task.attempts.length, 2);
  assert.notEqual(task.attempts[0]?.traceId, task.attempts[1]?.traceId);
  assert.equal(task.consumption.turns, 2, "consumption goes on");
  const messages = third.adapter.requests[0]?.messages ?? [];
  checkExchange(messages);
  assert.match(messages.at(-1)?.text ?? "", /it goes on now.*Nothing changed/s);
});

Deno.test("a blocked command that is denied later is a denial the model reads", async () => {
  await using first = await TestHost.open([TOUCH]);
  const { taskId } = await first.run();
  await using second = await first.reopen([{ text: "done" }]);
  const operation = await pending(second, taskId);
  const denied = await second.host.port.execute({
    type: "deny_operation",
    commandId: ids.next("command"),
    operationId: operation.id,
    seen: approvalKey(operation.scope),
    reason: "use the API",
  });
  assert.ok(denied.ok, JSON.stringify(denied));
  const { task } = await second.resume(taskId);
  assert.equal(task.state, "completed");
  const messages = second.adapter.requests[0]?.messages ?? [];
  checkExchange(messages);
  assert.match(messages.at(-2)?.text ?? "", /use the API/);
  assert.equal(second.folder.exists("made"), false);
});

Deno.test("a task that is resumed without an answer blocks on the same question again", async () => {
  await using first = await TestHost.open([TOUCH]);
  const { taskId } = await first.run();
  await using second = await first.reopen([]);
  const { task } = await second.resume(taskId);
  assert.equal(task.state, "blocked");
  assert.equal(task.reason, "permission_required");
  assert.equal(second.adapter.requests.length, 0, "nothing was asked of the model");
});

Deno.test("grants and YOLO of an attempt do not carry over", async () => {
  await using first = await TestHost.open([call("run", { command: ["true"] }), TOUCH]);
  const { taskId } = await first.run({ grants: [{ type: "exec", argv: ["true"], cwd: "." }] });
  await using second = await first.reopen([call("run", { command: ["true"] }), { text: "x" }]);
  await approve(second, await pending(second, taskId));
  const { task } = await second.resume(taskId, { onAsk: "deny" });
  assert.equal(task.result?.denials.length, 1);
  assert.equal(task.yolo, false);
});

Deno.test("a resumed task does not take its own changes for the user's", async () => {
  await using first = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "one", new_text: "two" }),
    call("write", { path: "new/made.txt", content: "1\n" }),
    TOUCH,
  ]);
  const { taskId } = await first.run();
  await using second = await first.reopen([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "two", new_text: "three" }),
    call("read", { path: "new/made.txt" }),
    call("edit", { path: "new/made.txt", old_text: "1", new_text: "2" }),
    { text: "done" },
  ]);
  await approve(second, await pending(second, taskId));
  const { task, differences } = await second.resume(taskId);
  assert.equal(task.state, "completed", JSON.stringify(task.result));
  assert.deepEqual(differences, []);
  assert.equal(second.folder.read("a.txt"), "three\n");
  const diff = await second.host.port.query({
    type: "read_artifact",
    artifactId: task.result?.diff ?? "" as never,
  });
  assert.ok(diff.ok);
  assert.match(diff.value.text, /-one\n\+three/, "the diff is the task's, not the attempt's");
  assert.deepEqual(task.result?.changes.map(({ path, by }) => [path, by]), [
    ["a.txt", "tool"],
    ["made", "observed"],
    ["new/made.txt", "tool"],
  ]);
});

Deno.test("what changed meanwhile is told to the user and to the model, and protected", async () => {
  await using first = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "one", new_text: "two" }),
    TOUCH,
  ]);
  const { taskId } = await first.run();
  first.folder.git("switch", "-q", "-c", "other");
  first.folder.write("a.txt", "the user's\n");
  first.folder.write("b.txt", "new\n");
  await using second = await first.reopen([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "user", new_text: "model" }),
    { text: "done" },
  ]);
  await approve(second, await pending(second, taskId));
  const { task, differences } = await second.resume(taskId, { onAsk: "deny" });
  assert.match(differences.join("\n"), /Branch: was main, is other/);
  assert.match(differences.join("\n"), /a\.txt: changed since the task wrote it/);
  assert.match(differences.join("\n"), /b\.txt: untracked since/);
  assert.match(second.adapter.requests[0]?.messages.at(-1)?.text ?? "", /is other/);
  assert.equal(second.folder.read("a.txt"), "the user's\n");
  assert.equal(task.result?.denials.length, 1);
});

Deno.test("only a blocked task is resumed", async () => {
  await using test = await TestHost.open([{ text: "done" }]);
  const { taskId } = await test.run();
  const resumed = await test.host.port.execute(resumeTask(taskId));
  assert.ok(!resumed.ok && resumed.error.type === "wrong_state");
});

Deno.test("an exhausted budget is extended, and the task goes on where it was", async () => {
  await using first = await TestHost.open([
    call("read", { path: "a.txt" }),
    { text: "done" },
  ], { config: "[harness]\nmax_turns = 1\n" });
  const { task, taskId } = await first.run();
  assert.equal(task.reason, "budget_exhausted");
  const extend = (more: object) =>
    first.host.port.execute({ type: "extend_task", commandId: ids.next("command"), taskId, more });
  for (const bad of [{}, { maxTurns: 0 }, { maxTurns: -1 }, { maxTurns: 1.5 }]) {
    const refused = await extend(bad);
    assert.ok(!refused.ok && refused.error.type === "usage", JSON.stringify(bad));
  }
  const extended = await extend({ maxTurns: 5 });
  assert.ok(extended.ok);
  assert.equal(extended.value.limits.maxTurns, 6);
  const resumed = await first.resume(taskId);
  assert.equal(resumed.task.state, "completed");
  assert.equal(resumed.task.consumption.turns, 2);
});
