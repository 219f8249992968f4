import assert from "node:assert/strict";
import { CommandLog } from "../../../src/runtime/application/command_log.ts";
import type { ApplicationPort, Command } from "../../../src/core/port/application.ts";
import { ok } from "../../../src/core/result.ts";
import { RemoteSteering } from "../../../src/runtime/control/remote_steering.ts";
import { systemClock, systemTimers } from "../../../src/runtime/system_clock.ts";
import { OWNER } from "../../support/control_line.ts";
import { TestServer } from "../../support/control_server.ts";
import { newId } from "../../support/ids.ts";

/**
 * Stands between a client and a server, and breaks one connection around the first command.
 *
 * @param loses Whether the command gets through or its answer does not come back.
 */
function breakOnce(path: string, to: string, loses: "command" | "answer") {
  const listener = Deno.listen({ transport: "unix", path });
  Deno.chmodSync(path, 0o600);
  let broken = false;
  const handled: Promise<void>[] = [];
  const done = (async () => {
    for await (const client of listener) handled.push(relay(client));
  })().catch((failure: unknown) => {
    if (!(failure instanceof Deno.errors.BadResource)) throw failure;
  });

  async function relay(client: Deno.Conn): Promise<void> {
    const server = await Deno.connect({ transport: "unix", path: to });
    let lost = false;
    const up = (async () => {
      for (const buffer = new Uint8Array(65_536);;) {
        const count = await client.read(buffer).catch(() => null);
        if (count === null) break;
        const bytes = buffer.subarray(0, count);
        if (!broken && new TextDecoder().decode(bytes).includes('"command"')) {
          broken = true;
          lost = true;
          if (loses === "command") break;
        }
        await server.write(bytes);
      }
      if (lost && loses === "answer") return;
      server.close();
    })();
    const down = (async () => {
      for (const buffer = new Uint8Array(65_536);;) {
        const count = await server.read(buffer).catch(() => null);
        if (count === null) break;
        // The command has been carried out: its answer is here, and goes no further.
        if (lost) {
          server.close();
          break;
        }
        await client.write(buffer.subarray(0, count));
      }
      client.close();
    })();
    await Promise.all([up, down]);
  }

  return {
    get broken() {
      return broken;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await done;
      await Promise.all(handled);
    },
  };
}

for (const loses of ["command", "answer"] as const) {
  Deno.test(`RemoteSteering finds out what became of a command whose ${loses} was lost`, async () => {
    const log = new CommandLog();
    const done: Command[] = [];
    await using test = TestServer.open({
      port: {
        execute: ((command: Command) =>
          log.run(command, () => {
            done.push(command);
            return Promise.resolve(ok({ interventionId: newId("intervention") })) as never;
          })) as ApplicationPort["execute"],
        query: ((query: { readonly commandId: Command["commandId"] }) =>
          Promise.resolve(ok(log.status(query.commandId)))) as never,
      },
    });
    const path = `${test.folder.path}/between.sock`;
    await using between = breakOnce(path, test.path, loses);
    const target = { path, ...OWNER, timers: systemTimers };
    const opened = await RemoteSteering.open(target, systemClock);
    assert.ok(opened.ok);
    await using remote = opened.value;
    const command = {
      type: "queue_message",
      commandId: newId("command"),
      taskId: newId("task"),
      text: "x",
    } as const;
    const reply = await remote.execute(command);
    assert.ok(reply.ok, JSON.stringify(reply));
    assert.equal(between.broken, true);
    assert.deepEqual(done, [command], "done exactly once");
    assert.deepEqual(await remote.execute(command), reply, "a repeat gets the same reply");
    assert.equal(done.length, 1);
  });
}

Deno.test("RemoteSteering says that it does not know when the owner is gone as well", async () => {
  const asked = Promise.withResolvers<void>();
  const test = TestServer.open({
    port: {
      execute: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    },
  });
  const opened = await RemoteSteering.open({
    path: test.path,
    ...OWNER,
    timers: systemTimers,
  }, systemClock);
  assert.ok(opened.ok);
  await using remote = opened.value;
  const reply = remote.execute({
    type: "cancel_task",
    commandId: newId("command"),
    taskId: newId("task"),
    by: "user",
  });
  await asked.promise;
  await test[Symbol.asyncDispose]();
  const result = await reply;
  assert.ok(
    !result.ok && result.error.type === "control" && result.error.reason === "unconfirmed",
    JSON.stringify(result),
  );
});
