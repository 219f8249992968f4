import assert from "node:assert/strict";
import type { ApplicationPort } from "../../../src/core/port/application.ts";
import { ok } from "../../../src/core/result.ts";
import { ControlSession } from "../../../src/runtime/control/session.ts";
import { HELLO, OWNER } from "../../support/control_line.ts";
import { newId } from "../../support/ids.ts";
import { ManualClock } from "../../support/manual_clock.ts";

type Sent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A session whose other end is this test. */
function open(port: Partial<Pick<ApplicationPort, "execute" | "query">> = {}) {
  const clock = new ManualClock();
  const sent: Sent[] = [];
  const reading: boolean[] = [];
  let closed = false;
  const wire = {
    send: (value: unknown) => void sent.push(value as Sent),
    setReading: (on: boolean) => void reading.push(on),
    closeOnceSent: () => {
      closed = true;
    },
  };
  const answer = () => Promise.resolve(ok({}));
  const session = new ControlSession(
    {
      ...OWNER,
      timers: clock,
      // What comes back is not looked at here, only that it does.
      port: { execute: answer, query: answer, ...port } as Pick<
        ApplicationPort,
        "execute" | "query"
      >,
    },
    wire,
    () => {},
  );
  const say = (value: unknown) => session.frame(JSON.stringify(value));
  return { clock, sent, reading, session, say, closed: () => closed };
}

const show = (number: number) => ({
  type: "query",
  number,
  query: { type: "show_task", taskId: newId("task") },
});

Deno.test("a session answers a hello with its own, then requests by their number", async () => {
  const { say, sent } = open({ execute: () => Promise.resolve(ok({ any: 1 })) as never });
  say(HELLO);
  assert.deepEqual(sent, [HELLO]);
  say({
    type: "command",
    number: 7,
    command: {
      type: "cancel_task",
      commandId: newId("command"),
      taskId: newId("task"),
      by: "user",
    },
  });
  await Promise.resolve().then(() => {}).then(() => {});
  assert.deepEqual(sent[1], { type: "reply", number: 7, result: ok({ any: 1 }) });
});

Deno.test("a session refuses whoever breaks the order, and closes", () => {
  const cases: readonly (readonly [name: string, frames: readonly unknown[], reason: string])[] = [
    ["another version", [{ ...HELLO, protocol: 2 }], "wrong_version"],
    ["another instance", [{ ...HELLO, instanceId: newId("instance") }], "wrong_owner"],
    ["another workspace", [{ ...HELLO, workspaceId: newId("workspace") }], "wrong_owner"],
    ["a request first", [show(1)], "malformed"],
    ["a forbidden request first", [{ type: "query", number: 1, query: {} }], "malformed"],
    ["a second hello", [HELLO, HELLO], "malformed"],
    ["a number in use", [HELLO, show(1), show(1)], "malformed"],
    ["a request without a number", [HELLO, { ...show(1), number: -1 }], "malformed"],
    ["an unknown frame", [HELLO, { type: "run", number: 1 }], "malformed"],
    ["no object", [HELLO, [1]], "malformed"],
  ];
  for (const [name, frames, reason] of cases) {
    const { say, sent, closed } = open({ query: () => new Promise(() => {}) });
    for (const frame of frames) say(frame);
    assert.equal(sent.at(-1)?.type, "refused", name);
    assert.equal(sent.at(-1)?.reason, reason, name);
    assert.equal(closed(), true, name);
    const count = sent.length;
    say(show(9));
    assert.equal(sent.length, count, `${name}: nothing after the end`);
  }
  const { session, sent } = open();
  session.frame("{ not json");
  assert.equal(sent[0]?.reason, "malformed");
});

Deno.test("a session answers a request outside the subset and goes on", async () => {
  const { say, sent, closed } = open();
  say(HELLO);
  say({
    type: "command",
    number: 1,
    command: { type: "set_yolo", commandId: newId("command"), taskId: newId("task"), on: true },
  });
  say({ type: "query", number: 2, query: { type: "show_task", taskId: "nonsense" } });
  assert.deepEqual(sent.slice(1).map(({ result }) => result), [
    {
      ok: false,
      error: { type: "control", reason: "not_permitted", detail: 'command "set_yolo"' },
    },
    {
      ok: false,
      error: {
        type: "control",
        reason: "refused",
        detail: 'its field "taskId" is missing or wrong',
      },
    },
  ]);
  say(show(3));
  await Promise.resolve().then(() => {}).then(() => {});
  assert.equal(sent.at(-1)?.number, 3);
  assert.equal(closed(), false);
});

Deno.test("a session waits for a hello and for the next request only so long", async () => {
  const silent = open();
  silent.clock.advance(1999);
  assert.equal(silent.closed(), false);
  silent.clock.advance(1);
  assert.equal(silent.sent[0]?.reason, "too_slow");
  assert.equal(silent.clock.pending, 0);
  const { promise, resolve } = Promise.withResolvers<never>();
  const idle = open({ query: () => promise });
  idle.say(HELLO);
  idle.clock.advance(30_000);
  idle.say(show(1));
  idle.clock.advance(120_000);
  assert.equal(idle.closed(), false, "a request under way is no idleness");
  resolve(ok({}) as never);
  await promise;
  await Promise.resolve().then(() => {}).then(() => {});
  idle.clock.advance(59_999);
  assert.equal(idle.closed(), false);
  idle.clock.advance(1);
  assert.equal(idle.sent.at(-1)?.reason, "too_slow");
});

Deno.test("a session reads no further while eight requests are under way", async () => {
  const answers: ((value: never) => void)[] = [];
  const { say, reading, session } = open({
    query: () => new Promise((resolve) => answers.push(resolve)),
  });
  say(HELLO);
  for (let number = 0; number < 7; number++) say(show(number));
  assert.deepEqual(reading, []);
  assert.equal(session.busy, true);
  say(show(7));
  assert.deepEqual(reading, [false]);
  answers[0]?.(ok({}) as never);
  await Promise.resolve().then(() => {}).then(() => {});
  assert.deepEqual(reading, [false, true]);
});

Deno.test("a session gives an error in place of an answer that is too large, or of a defect", async () => {
  const { say, sent } = open({
    query: (query) =>
      (query.type === "show_task"
        ? Promise.resolve(ok("x".repeat(4 << 20)))
        : Promise.reject(new TypeError("broken"))) as never,
  });
  say(HELLO);
  say(show(1));
  say({
    type: "query",
    number: 2,
    query: { type: "list_approvals", taskId: newId("task") },
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
  const results = new Map(sent.slice(1).map(({ number, result }) => [number, result]));
  assert.deepEqual(results.get(1), {
    ok: false,
    error: { type: "control", reason: "too_large", detail: "" },
  });
  assert.deepEqual(results.get(2), { ok: false, error: { type: "internal", detail: "broken" } });
});
