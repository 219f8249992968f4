import assert from "node:assert/strict";
import type { Command } from "../../../src/core/port/application.ts";
import type { TaskId } from "../../../src/core/ids.ts";
import { newId } from "../../support/ids.ts";
import { call, startTask, TestHost } from "../../support/test_host.ts";

/** Longer than a kill takes anywhere. */
const GRACE_SECONDS = 20;

type Stop = Extract<Command, { type: "cancel_task" | "kill_task" }>;

function stop(taskId: TaskId, type: Stop["type"] = "cancel_task"): Stop {
  return { type, commandId: newId("command"), taskId, by: "user" };
}

/** Types of the events of a task, in order. */
async function events(test: TestHost, taskId: TaskId): Promise<readonly string[]> {
  const page = await test.host.port.query({
    type: "list_events",
    taskId,
    afterSequence: 0,
    limit: 200,
  });
  assert.ok(page.ok);
  return page.value.items.map(({ event }) => event.type);
}

/** A task at work whose one command says "ready" and then does what the script says. */
async function atWork(test: TestHost): Promise<TaskId> {
  const started = await test.host.port.execute(startTask({ yolo: true }));
  assert.ok(started.ok);
  const { taskId } = started.value;
  for await (const batch of test.host.port.subscribe(taskId)) {
    if (batch.some((update) => update.type === "output" && update.text.includes("ready"))) break;
  }
  return taskId;
}

Deno.test("a task at work is cancelled: the command ends, its result says so, nothing follows", async () => {
  await using test = await TestHost.open([
    call("write", { path: "kept.txt", content: "kept\n" }),
    {
      calls: [
        { name: "shell", arguments: { script: "echo ready; exec sleep 60" } },
        { name: "write", arguments: { path: "never.txt", content: "x" } },
      ],
    },
  ]);
  const taskId = await atWork(test);
  const ended = test.until(taskId, "task_ended");
  const reply = await test.host.port.execute(stop(taskId));
  assert.deepEqual(reply, {
    ok: true,
    value: { taskId, state: "stopping", changed: true },
  });
  const again = await test.host.port.execute(stop(taskId));
  assert.ok(again.ok && !again.value.changed);
  const said = await test.host.port.execute({
    type: "queue_message",
    commandId: newId("command"),
    taskId,
    text: "wait",
  });
  assert.ok(!said.ok && said.error.type === "wrong_state");
  await ended;
  const task = await test.task(taskId);
  assert.equal(task.state, "cancelled");
  assert.deepEqual(task.result?.error, { type: "cancelled", by: "user" });
  assert.equal(test.folder.read("kept.txt"), "kept\n", "nothing is rolled back");
  assert.equal(test.folder.exists("never.txt"), false);
  assert.equal(test.adapter.requests.length, 2, "no request after the acknowledgement");
  const order = await events(test, taskId);
  const after = order.slice(order.indexOf("cancel_requested"));
  assert.deepEqual(
    after.filter((type) => type === "operation_dispatched" || type === "request_reserved"),
    [],
  );
  const session = await test.host.port.query({
    type: "read_session",
    sessionId: task.sessionId,
    maxBytes: 100_000,
  });
  assert.ok(session.ok);
  const results = session.value.messages.filter((message) => message.role === "tool");
  assert.match(results.at(-2)?.text ?? "", /Interrupted by the user, effects possible/);
  assert.match(results.at(-1)?.text ?? "", /Not run/);
  const late = await test.host.port.execute(stop(taskId, "kill_task"));
  assert.deepEqual(late, { ok: true, value: { taskId, state: "cancelled", changed: false } });
});

Deno.test("a command that ignores its end is killed by a force stop, before its grace is over", async () => {
  await using test = await TestHost.open(
    [call("shell", { script: "trap '' TERM; echo ready; while true; do sleep 0.05; done" })],
    { config: `[tools.shell]\ntermination_grace_seconds = ${GRACE_SECONDS}\n` },
  );
  const taskId = await atWork(test);
  const startMs = performance.now();
  const ended = test.until(taskId, "task_ended");
  assert.ok((await test.host.port.execute(stop(taskId))).ok);
  const killed = await test.host.port.execute(stop(taskId, "kill_task"));
  assert.ok(killed.ok && killed.value.changed);
  const again = await test.host.port.execute(stop(taskId, "kill_task"));
  assert.ok(again.ok && !again.value.changed);
  await ended;
  assert.ok(performance.now() - startMs < GRACE_SECONDS * 1000, "it waited for the grace");
  assert.equal((await test.task(taskId)).state, "cancelled");
  const order = await events(test, taskId);
  assert.equal(order.filter((type) => type === "cancel_requested").length, 1);
  assert.equal(order.filter((type) => type === "force_stop_requested").length, 1);
});

Deno.test("two cancellations at the same time are one", async () => {
  await using test = await TestHost.open([call("shell", { script: "echo ready; exec sleep 60" })]);
  const taskId = await atWork(test);
  const ended = test.until(taskId, "task_ended");
  const replies = await Promise.all([
    test.host.port.execute(stop(taskId)),
    test.host.port.execute(stop(taskId)),
  ]);
  assert.deepEqual(replies.map((reply) => reply.ok && reply.value.changed), [true, false]);
  await ended;
  const order = await events(test, taskId);
  assert.equal(order.filter((type) => type === "cancel_requested").length, 1);
});

Deno.test("a blocked task is cancelled in the journal, with what waited and what was granted", async () => {
  await using test = await TestHost.open([call("run", { command: ["touch", "made.txt"] })]);
  const { taskId, task } = await test.run({
    grants: [{ type: "exec", argv: ["true"], cwd: "." }],
  });
  assert.equal(task.state, "blocked");
  const { port } = test.host;
  const waiting = await port.query({ type: "list_approvals", taskId });
  assert.ok(waiting.ok);
  const operationId = waiting.value[0]?.id;
  assert.ok(operationId);
  const reply = await port.execute(stop(taskId));
  assert.deepEqual(reply, { ok: true, value: { taskId, state: "cancelled", changed: true } });
  const again = await port.execute(stop(taskId));
  assert.deepEqual(again, { ok: true, value: { taskId, state: "cancelled", changed: false } });
  const after = await test.task(taskId);
  assert.equal(after.state, "cancelled");
  assert.deepEqual(after.result?.error, { type: "cancelled", by: "user" });
  assert.equal(after.result?.status, "cancelled");
  assert.deepEqual(after.grants.filter(({ state }) => state === "active"), []);
  const operation = await port.query({ type: "show_operation", operationId });
  assert.ok(operation.ok);
  assert.equal(operation.value.operation.state, "cancelled");
  const unknown = newId("task");
  assert.deepEqual(await port.execute(stop(unknown)), {
    ok: false,
    error: { type: "not_found", what: "task", id: unknown },
  });
});

Deno.test("command_status tells what became of a command", async () => {
  await using test = await TestHost.open([{ text: "done" }]);
  const { command, taskId } = await test.run();
  const { port } = test.host;
  const known = await port.query({ type: "command_status", commandId: command.commandId });
  assert.ok(known.ok && known.value.state === "done");
  const { reply } = known.value;
  assert.ok(reply.ok && "taskId" in reply.value && reply.value.taskId === taskId);
  const unknown = await port.query({ type: "command_status", commandId: newId("command") });
  assert.deepEqual(unknown, { ok: true, value: { state: "unknown" } });
});
