import assert from "node:assert/strict";
import type { Command } from "../../../src/core/port/application.ts";
import { ok } from "../../../src/core/result.ts";
import { CommandLog } from "../../../src/runtime/application/command_log.ts";
import { newId } from "../../support/ids.ts";

type Cancel = Extract<Command, { type: "cancel_task" }>;

const cancel = (): Cancel => ({
  type: "cancel_task",
  commandId: newId("command"),
  taskId: newId("task"),
  by: "user",
});

/** Carries out a command and counts how often that happens. */
function counting(log: CommandLog) {
  let count = 0;
  return {
    run: (command: Cancel) =>
      log.run<"cancel_task">(command, () => {
        count++;
        return Promise.resolve(ok({ taskId: command.taskId, state: "stopping", changed: true }));
      }),
    count: () => count,
  };
}

Deno.test("CommandLog does a command once, also when its repeat comes while it is under way", async () => {
  const { run, count } = counting(new CommandLog());
  const command = cancel();
  const [first, second] = await Promise.all([run(command), run({ ...command })]);
  assert.deepEqual(first, second);
  const { type, by, taskId, commandId } = command;
  assert.deepEqual(await run({ taskId, by, commandId, type }), first, "fields in another order");
  assert.equal(count(), 1);
});

Deno.test("CommandLog refuses another command under an id that was used", async () => {
  const { run, count } = counting(new CommandLog());
  const command = cancel();
  await run(command);
  const reused = await run({ ...command, taskId: newId("task") });
  assert.ok(!reused.ok && reused.error.type === "control" && reused.error.reason === "id_reused");
  assert.equal(count(), 1);
});

Deno.test("CommandLog says what became of a command", async () => {
  const log = new CommandLog();
  const command = cancel();
  assert.deepEqual(log.status(command.commandId), { state: "unknown" });
  const { promise, resolve } = Promise.withResolvers<void>();
  const reply = ok({ taskId: command.taskId, state: "stopping", changed: true } as const);
  const running = log.run<"cancel_task">(command, async () => {
    await promise;
    return reply;
  });
  assert.deepEqual(log.status(command.commandId), { state: "running" });
  resolve();
  await running;
  assert.deepEqual(log.status(command.commandId), { state: "done", reply });
});

Deno.test("CommandLog forgets the oldest and what ended in a defect", async () => {
  const log = new CommandLog();
  const { run } = counting(log);
  const first = cancel();
  await run(first);
  for (let count = 0; count < 255; count++) await run(cancel());
  assert.equal(log.status(first.commandId).state, "done");
  await run(cancel());
  assert.equal(log.status(first.commandId).state, "unknown");
  const broken = cancel();
  await assert.rejects(log.run<"cancel_task">(broken, () => Promise.reject(new TypeError("x"))));
  assert.equal(log.status(broken.commandId).state, "unknown");
  assert.ok((await run(broken)).ok);
});
