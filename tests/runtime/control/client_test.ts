import assert from "node:assert/strict";
import { ok } from "../../../src/core/result.ts";
import { ControlConnection, type ControlTarget } from "../../../src/runtime/control/client.ts";
import { listenUnix } from "../../../src/runtime/linux/unix_socket.ts";
import { systemTimers } from "../../../src/runtime/system_clock.ts";
import { HELLO, OWNER } from "../../support/control_line.ts";
import { TestServer } from "../../support/control_server.ts";
import { newId } from "../../support/ids.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { TestFolder } from "../../support/repository.ts";

const target = (path: string, changes: Partial<ControlTarget> = {}): ControlTarget => ({
  path,
  ...OWNER,
  timers: systemTimers,
  ...changes,
});

/** The reason why no connection came about. */
async function refusal(of: ControlTarget): Promise<string> {
  const opened = await ControlConnection.open(of);
  if (!opened.ok) return opened.error.reason;
  await opened.value.close();
  return "opened";
}

Deno.test("ControlConnection gets answers by their request, in whatever order they come", async () => {
  const first = Promise.withResolvers<unknown>();
  await using test = TestServer.open({
    port: {
      query: (query) =>
        (query.type === "show_task" ? first.promise : Promise.resolve(ok("second"))) as never,
    },
  });
  const opened = await ControlConnection.open(target(test.path));
  assert.ok(opened.ok);
  const connection = opened.value;
  const slow = connection.query({ type: "show_task", taskId: newId("task") });
  const quick = await connection.query({ type: "list_approvals", taskId: newId("task") });
  assert.deepEqual(quick, ok("second"));
  first.resolve(ok("first"));
  assert.deepEqual(await slow, ok("first"));
  await connection.close();
  const late = await connection.query({ type: "show_task", taskId: newId("task") });
  assert.ok(!late.ok && late.error.type === "control");
});

Deno.test("ControlConnection takes only the owner that is meant, of this user", async () => {
  await using test = TestServer.open();
  const { path } = test;
  assert.equal(await refusal(target(path)), "opened");
  assert.equal(await refusal(target(path, { instanceId: newId("instance") })), "wrong_owner");
  assert.equal(await refusal(target(path, { workspaceId: newId("workspace") })), "wrong_owner");
  const credentialsOf = () => ({ pid: 1, uid: (Deno.uid() ?? 0) + 1, gid: 0 });
  assert.equal(await refusal(target(path, { credentialsOf })), "wrong_user");
  Deno.chmodSync(path, 0o660);
  assert.equal(await refusal(target(path)), "not_private");
  Deno.chmodSync(path, 0o600);
  Deno.symlinkSync(path, `${path}.link`);
  assert.equal(await refusal(target(`${path}.link`)), "not_private");
  const folder = path.slice(0, path.lastIndexOf("/"));
  Deno.chmodSync(folder, 0o750);
  assert.equal(await refusal(target(path)), "not_private");
  Deno.chmodSync(folder, 0o700);
  Deno.removeSync(`${path}.link`);
});

Deno.test("ControlConnection finds no owner where there is no socket, or one of a dead process", async () => {
  using folder = new TestFolder();
  const path = `${folder.path}/own.sock`;
  assert.equal(await refusal(target(path)), "no_owner");
  // As a killed process leaves it: the file stays.
  listenUnix(path, 1).close();
  Deno.chmodSync(path, 0o600);
  assert.equal(await refusal(target(path)), "no_owner");
});

/** Listens like an owner, and says whatever the test wants. */
function pretend(path: string, say: (connection: Deno.Conn) => Promise<void>) {
  const listener = Deno.listen({ transport: "unix", path });
  Deno.chmodSync(path, 0o600);
  const done = (async () => {
    const connection = await listener.accept();
    await say(connection);
    connection.close();
  })();
  return {
    async [Symbol.asyncDispose]() {
      listener.close();
      await done;
    },
  };
}

const send = async (connection: Deno.Conn, value: unknown) => {
  await connection.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
};

Deno.test("ControlConnection is not taken in by an owner of another version or identity", async () => {
  using folder = new TestFolder();
  const cases: readonly (readonly [value: unknown, reason: string])[] = [
    [{ ...HELLO, protocol: 2 }, "wrong_version"],
    [{ ...HELLO, instanceId: newId("instance") }, "wrong_owner"],
    [{ ...HELLO, workspaceId: newId("workspace") }, "wrong_owner"],
    [{ type: "reply", number: 0, result: ok(1) }, "no_owner"],
    [{ type: "what" }, "refused"],
    [{ type: "refused", reason: "closing", detail: "" }, "no_owner"],
    [{ type: "refused", reason: "busy", detail: "" }, "refused"],
    [{ type: "refused", reason: "wrong_version", detail: "" }, "wrong_version"],
  ];
  for (const [index, [value, reason]] of cases.entries()) {
    const path = `${folder.path}/${index}.sock`;
    await using _owner = pretend(path, (connection) => send(connection, value));
    assert.equal(await refusal(target(path)), reason, JSON.stringify(value));
  }
});

Deno.test("ControlConnection waits for a hello and for an answer only so long", async () => {
  using folder = new TestFolder();
  const clock = new ManualClock();
  const released = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  const silent = `${folder.path}/silent.sock`;
  const mute = `${folder.path}/mute.sock`;
  await using _silent = pretend(silent, async (connection) => {
    await connection.read(new Uint8Array(1024));
    heard.resolve();
    await released.promise;
  });
  const opening = ControlConnection.open(target(silent, { timers: clock }));
  await heard.promise;
  clock.advance(2000);
  const opened = await opening;
  assert.ok(!opened.ok && opened.error.reason === "timed_out");
  await using _mute = pretend(mute, async (connection) => {
    await connection.read(new Uint8Array(1024));
    await send(connection, HELLO);
    await connection.read(new Uint8Array(1024));
    await released.promise;
  });
  const connected = await ControlConnection.open(target(mute, { timers: clock }));
  assert.ok(connected.ok);
  const answer = connected.value.query({ type: "show_task", taskId: newId("task") });
  clock.advance(10_000);
  const result = await answer;
  assert.ok(
    !result.ok && result.error.type === "control" && result.error.reason === "timed_out",
  );
  await connected.value.close();
  assert.equal(clock.pending, 0);
  released.resolve();
});
