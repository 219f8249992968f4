import assert from "node:assert/strict";
import { NONE_LEFT } from "../../../src/core/left_processes.ts";
import type { OperationId, TaskId } from "../../../src/core/ids.ts";
import type { OperationDetail } from "../../../src/core/port/read_models.ts";
import { randomIds } from "../../../src/runtime/random_ids.ts";
import { openStore } from "../../../src/runtime/storage/client.ts";
import { systemClock } from "../../../src/runtime/system_clock.ts";
import { markedProcesses } from "../../support/processes.ts";
import { call, startTask, TestHost } from "../../support/test_host.ts";

const GRACE = "[tools.shell]\ntermination_grace_seconds = 30\n";

/** Starts a task whose model runs these scripts, and returns once the last one has printed. */
async function begin(host: TestHost, scripts: readonly string[]): Promise<TaskId> {
  const grants = scripts.map((script) => ({ type: "shell", script } as const));
  const started = await host.host.port.execute(startTask({ grants }));
  assert.ok(started.ok, JSON.stringify(started));
  return started.value.taskId;
}

/** Waits until the output of a task holds a text; returns the operation it came from. */
async function untilOutput(host: TestHost, taskId: TaskId, text: string): Promise<OperationId> {
  let seen = "";
  for await (const batch of host.host.port.subscribe(taskId)) {
    for (const update of batch) {
      if (update.type !== "output") continue;
      seen += update.text;
      if (seen.includes(text)) return update.operationId;
    }
  }
  throw new Error(`no such output: ${seen}`);
}

async function operations(host: TestHost, taskId: TaskId): Promise<readonly OperationDetail[]> {
  const query = { type: "list_operations", taskId, after: null, limit: 9 } as const;
  const page = await host.host.port.query(query);
  assert.ok(page.ok);
  return page.value.items;
}

async function cancel(host: TestHost, taskId: TaskId): Promise<void> {
  const commandId = randomIds(systemClock).next("command");
  const reply = await host.host.port.execute({
    type: "cancel_task",
    commandId,
    taskId,
    by: "user",
  });
  assert.ok(reply.ok, JSON.stringify(reply));
}

Deno.test("performJournaled() keeps the output readable while a command runs and after it", async () => {
  const script =
    "printf '\\033[31mred\\033[0m and no newline'; while [ ! -e go ]; do sleep 0.02; done";
  await using host = await TestHost.open([call("shell", { script }), { text: "done" }]);
  const taskId = await begin(host, [script]);
  const operationId = await untilOutput(host, taskId, "newline");
  const read = () => host.host.port.query({ type: "read_output", operationId });
  const text = "red and no newline";
  assert.deepEqual(await read(), { ok: true, value: { text, droppedUnits: 0, running: true } });
  host.folder.write("go", "");
  await host.until(taskId, "task_ended");
  assert.deepEqual(await read(), { ok: true, value: { text, droppedUnits: 0, running: false } });
  const other = randomIds(systemClock).next("operation");
  const missing = await host.host.port.query({ type: "read_output", operationId: other });
  assert.ok(!missing.ok && missing.error.type === "not_found");
});

Deno.test("performJournaled() names what a command left, and the end of the host its end", async () => {
  const script = "sleep 60 >/dev/null 2>&1 & echo $!";
  const host = await TestHost.open([call("shell", { script }), { text: "done" }]);
  const { folder } = host;
  try {
    const { task, taskId } = await host.run({ grants: [{ type: "shell", script }] });
    const [operation] = await operations(host, taskId);
    assert.ok(operation !== undefined);
    const [left, ...others] = operation.left.processes;
    assert.deepEqual([left?.command, others], ["sleep 60", []]);
    assert.match(operation.summary, /^Exit code 0, .*still running: process \d+ \(sleep 60\)$/);
    assert.match(task.result?.uncertainties.join() ?? "", /left still running: process \d+/);
    assert.equal(task.state, "completed");
    assert.deepEqual(markedProcesses(operation.id), [left?.pid]);

    await host.host.shutdown("user");
    assert.deepEqual(markedProcesses(operation.id), []);
    const directory = `${folder.path}/.fluzodrive`;
    const opened = await openStore({ directory, mode: "read", ownerAlive: () => false }).opened;
    assert.ok(opened.ok);
    const now = await opened.value.operation(operation.id);
    await opened.value.close();
    assert.ok(now.ok);
    assert.deepEqual(now.value?.operation.left, NONE_LEFT);
  } finally {
    await host[Symbol.asyncDispose]();
  }
});

Deno.test("a cancelled task ends what its commands left, also earlier ones", async () => {
  const scripts = ["sleep 60 >/dev/null 2>&1 &", "echo on; sleep 60"];
  await using host = await TestHost.open(scripts.map((script) => call("shell", { script })));
  const taskId = await begin(host, scripts);
  await untilOutput(host, taskId, "on");
  const [first] = await operations(host, taskId);
  assert.ok(first !== undefined);
  assert.equal(first.left.processes.length, 1);
  const ended = host.until(taskId, "task_ended");
  await cancel(host, taskId);
  await ended;
  const after = await operations(host, taskId);
  assert.deepEqual(after.map(({ left }) => left), [NONE_LEFT, NONE_LEFT]);
  assert.deepEqual(after.flatMap(({ id }) => markedProcesses(id)), []);
});

Deno.test("shutdown of a host cuts the grace of a task that was cancelled before", async () => {
  const script = "trap '' TERM; echo on; while :; do sleep 0.1; done";
  const host = await TestHost.open([call("shell", { script })], { config: GRACE });
  try {
    const taskId = await begin(host, [script]);
    const operationId = await untilOutput(host, taskId, "on");
    await cancel(host, taskId);
    const startMs = performance.now();
    await host.host.shutdown("SIGINT");
    assert.ok(performance.now() - startMs < 5000, "the grace was not cut");
    assert.deepEqual(markedProcesses(operationId), []);
  } finally {
    await host[Symbol.asyncDispose]();
  }
});
