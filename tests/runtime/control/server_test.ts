import assert from "node:assert/strict";
import { ok } from "../../../src/core/result.ts";
import { ControlLine, HELLO } from "../../support/control_line.ts";
import { TestServer } from "../../support/control_server.ts";
import { newId } from "../../support/ids.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const show = (number: number) => ({
  type: "query",
  number,
  query: { type: "show_task", taskId: newId("task") },
});

Deno.test("ControlServer listens on a private socket, says where, and leaves nothing", async () => {
  let path: string;
  {
    await using test = TestServer.open();
    path = test.path;
    assert.deepEqual(test.places, [{ type: "listening", path, protocol: 1 }]);
    const info = Deno.lstatSync(path);
    assert.equal(info.isSocket, true);
    assert.equal((info.mode ?? 0) & 0o777, 0o600);
    const folder = Deno.lstatSync(path.slice(0, path.lastIndexOf("/")));
    assert.equal((folder.mode ?? 0) & 0o777, 0o700);
    using line = await ControlLine.greeted(path);
    await line.send(show(1));
    assert.deepEqual(await line.read(), { type: "reply", number: 1, result: ok({}) });
    await test.server.close();
    assert.equal((await line.read())?.reason, "closing");
    assert.equal(await line.read(), null);
    assert.throws(() => Deno.lstatSync(path), Deno.errors.NotFound);
  }
});

Deno.test("ControlServer refuses another user, whatever it says", async () => {
  await using test = TestServer.open({
    credentialsOf: () => ({ pid: 1, uid: (Deno.uid() ?? 0) + 1, gid: 0 }),
  });
  using line = await ControlLine.open(test.path);
  // The refusal comes first; what is sent meanwhile is not read.
  await line.send(HELLO).catch(() => {});
  assert.equal((await line.read())?.reason, "wrong_user");
  assert.equal(await line.read(), null);
});

Deno.test("ControlServer ends a connection that sends a frame beyond the cap or no text", async () => {
  await using test = TestServer.open();
  for (
    const [bytes, reason] of [
      ["x".repeat(300_000), "too_large"],
      [new Uint8Array([0xff, 0x0a]), "malformed"],
      ["nonsense\n", "malformed"],
    ] as const
  ) {
    using line = await ControlLine.greeted(test.path);
    // The rest of what is too large is not taken any more.
    const sent = line.write(bytes).catch((failure: unknown) => {
      assert.ok(failure instanceof Deno.errors.BrokenPipe, String(failure));
    });
    assert.equal((await line.read())?.reason, reason);
    assert.equal(await line.read(), null);
    await sent;
  }
});

Deno.test("ControlServer does not wait for the rest of a frame, however it trickles in", async () => {
  const clock = new ManualClock();
  await using test = TestServer.open({ timers: clock });
  using line = await ControlLine.greeted(test.path);
  using other = await ControlLine.greeted(test.path);
  for (const byte of '{"type":') {
    await line.write(byte);
    // An answer on another connection: this byte has been read by then.
    await other.send(show(1));
    await other.read();
    clock.advance(500);
  }
  clock.advance(1500);
  assert.equal((await line.read())?.reason, "too_slow");
  assert.equal(await line.read(), null);
  await other.send(show(2));
  assert.equal((await other.read())?.number, 2, "others are served");
});

Deno.test("ControlServer bounds its connections and takes new ones when some are gone", async () => {
  await using test = TestServer.open();
  const lines: ControlLine[] = [];
  try {
    for (let count = 0; count < 16; count++) lines.push(await ControlLine.greeted(test.path));
    using surplus = await ControlLine.open(test.path);
    assert.equal((await surplus.read())?.reason, "busy");
    assert.equal(await surplus.read(), null);
    for (const line of lines) {
      await line.send(show(3));
      assert.equal((await line.read())?.number, 3);
    }
    lines.pop()?.[Symbol.dispose]();
    // The server hears of its end a moment later.
    for (let answer: unknown = "busy"; answer === "busy";) {
      using line = await ControlLine.open(test.path);
      await line.send(HELLO).catch(() => {});
      const first = await line.read();
      answer = first?.reason ?? first?.type;
      if (answer !== "busy") assert.equal(answer, "hello");
    }
  } finally {
    for (const line of lines) line[Symbol.dispose]();
  }
});

Deno.test("ControlServer drops a client that does not read, and serves the others", async () => {
  const text = "x".repeat(1 << 20);
  await using test = TestServer.open({
    port: { query: () => Promise.resolve(ok(text)) as never },
  });
  using deaf = await ControlLine.greeted(test.path);
  // Far more than the kernel and the server hold for one client.
  for (let number = 0; number < 16; number++) {
    await deaf.send(show(number)).catch(() => {});
  }
  using other = await ControlLine.greeted(test.path);
  await other.send(show(1));
  assert.equal((await other.read())?.number, 1);
  let frames = 0;
  while (await deaf.read() !== null) frames++;
  assert.ok(frames < 16, `${frames} frames were kept for a client that did not read`);
});

Deno.test("ControlServer answers what is under way before it closes", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const asked = Promise.withResolvers<void>();
  await using test = TestServer.open({
    port: {
      query: () => {
        asked.resolve();
        return promise as never;
      },
    },
  });
  using line = await ControlLine.greeted(test.path);
  await line.send(show(1));
  await asked.promise;
  const closed = test.server.close();
  resolve(ok({ late: true }));
  assert.deepEqual((await line.read())?.result, ok({ late: true }));
  assert.equal((await line.read())?.reason, "closing");
  await closed;
});

Deno.test("ControlServer goes on when a client vanishes with a request under way", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<unknown>();
  let count = 0;
  await using test = TestServer.open({
    port: {
      query: () => {
        if (count++ > 0) return Promise.resolve(ok({})) as never;
        asked.resolve();
        return answer.promise as never;
      },
    },
  });
  {
    using line = await ControlLine.greeted(test.path);
    await line.send(show(1));
    await asked.promise;
  }
  using other = await ControlLine.greeted(test.path);
  answer.resolve(ok({}));
  await other.send(show(2));
  assert.equal((await other.read())?.number, 2);
});
