import assert from "node:assert/strict";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import { openStore } from "../../../src/runtime/storage/client.ts";
import { newId } from "../../support/ids.ts";
import { drafts, failure, opened, startedTask, temporaryStore, value } from "./_fixture.ts";

function session(title: string): DomainEvent {
  return { type: "session_created", sessionId: newId("session"), title };
}

Deno.test("openStore() returns at once and can be closed before it is open", async () => {
  using place = temporaryStore();
  const store = openStore({ directory: place.directory, mode: "write", ownerAlive: () => true });
  await store.close();
  const result = await store.opened;
  // The request to open came first and was answered; afterwards the store is closed.
  if (result.ok) {
    assert.equal(failure(await result.value.append(drafts(session("x")))).reason, "worker_lost");
  }
});

Deno.test("openStore() tells why it cannot open, and ends the worker", async () => {
  using place = temporaryStore();
  Deno.mkdirSync(place.directory, { mode: 0o700 });
  Deno.writeFileSync(`${place.directory}/state.sqlite3`, new Uint8Array(9000).fill(1), {
    mode: 0o600,
  });
  for (const mode of ["write", "read"] as const) {
    const store = openStore({ directory: place.directory, mode, ownerAlive: () => true });
    const error = failure(await store.opened);
    assert.equal(error.reason, "corrupt");
    assert.equal(error.path, `${place.directory}/state.sqlite3`);
    await store.close();
  }
});

Deno.test("openStore() in mode read makes nothing and shows an empty journal", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory, { mode: "read" });
  assert.deepEqual(value(await store.tasks(null, 10)), { items: [], next: null });
  assert.deepEqual(value(await store.sessions(null, 10)), { items: [], next: null });
  assert.equal(value(await store.task(newId("task"))), null);
  assert.match(failure(await store.append(drafts(session("x")))).detail, /inspection only/);
  assert.deepEqual([...Deno.readDirSync(place.root)], []);
});

Deno.test("openStore() in mode read refuses writes and changes no committed byte", async () => {
  using place = temporaryStore();
  {
    await using store = await opened(place.directory);
    value(await store.append(drafts(session("x"))));
  }
  const before = Deno.readFileSync(`${place.directory}/state.sqlite3`);
  {
    await using store = await opened(place.directory, { mode: "read" });
    assert.match(failure(await store.append(drafts(session("y")))).detail, /inspection only/);
    const artifact = { id: newId("artifact"), kind: "diff", droppedBytes: 0 } as const;
    assert.match(
      failure(await store.putArtifact(artifact, new Uint8Array(1))).detail,
      /inspection only/,
    );
    assert.equal(value(await store.sessions(null, 10)).items.length, 1);
  }
  assert.deepEqual(Deno.readFileSync(`${place.directory}/state.sqlite3`), before);
  assert.deepEqual([...Deno.readDirSync(`${place.directory}/artifacts`)], []);
});

Deno.test("openStore() keeps what was acknowledged over a restart, in sequence", async () => {
  using place = temporaryStore();
  const task = startedTask();
  for (let round = 0; round < 3; round++) {
    await using store = await opened(place.directory);
    const batch = round === 0 ? drafts(...task.events) : drafts(session(`Round ${round}`));
    const { lastSequence } = value(await store.append(batch));
    assert.equal(lastSequence, task.events.length + round);
  }
  await using store = await opened(place.directory, { mode: "read" });
  const titles = value(await store.sessions(null, 10)).items.map((item) => item.title);
  assert.deepEqual(titles, ["Round 2", "Round 1", "First"]);
});

Deno.test("openStore() makes one journal when two make it at once", async () => {
  using place = temporaryStore();
  const stores = await Promise.all([1, 2, 3].map(() => opened(place.directory)));
  const results = await Promise.all(
    stores.map((store, i) => store.append(drafts(session(`${i}`)))),
  );
  assert.deepEqual(results.map((r) => value(r).lastSequence).sort(), [1, 2, 3]);
  for (const store of stores) await store.close();
});

Deno.test("append() of many calls at once keeps their order", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) => store.append(drafts(session(`${i}`)))),
  );
  assert.deepEqual(results.map((r) => value(r).lastSequence), results.map((_, i) => i + 1));
  const titles = value(await store.sessions(null, 500)).items.map((item) => item.title);
  assert.deepEqual(titles, results.map((_, i) => `${99 - i}`));
});

Deno.test("append() of nothing commits nothing", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  assert.deepEqual(value(await store.append([])), { lastSequence: 0 });
});

Deno.test("append() keeps text that is no well-formed UTF-16", async () => {
  using place = temporaryStore();
  const { events, sessionId, taskId } = startedTask();
  const text = "a\u0000b\ud800c\u2028😀";
  await using store = await opened(place.directory);
  value(
    await store.append(drafts(...events, {
      type: "message_recorded",
      messageId: newId("message"),
      sessionId,
      taskId,
      message: { role: "user", text },
    })),
  );
  assert.deepEqual(value(await store.messages(sessionId, 1e6)).messages, [{ role: "user", text }]);
});

Deno.test("openStore() tells of damage with path and remedy and keeps the file", async () => {
  using place = temporaryStore();
  const path = `${place.directory}/state.sqlite3`;
  {
    await using store = await opened(place.directory);
    for (let i = 0; i < 40; i++) {
      value(await store.append(drafts(...Array.from({ length: 50 }, () => session("s")))));
    }
  }
  // As a failing disk would leave it. The first page is whole: the file still looks like ours.
  const file = Deno.readFileSync(path).fill(0xa5, 20 * 4096);
  Deno.writeFileSync(path, file);
  const opening = openStore({ directory: place.directory, mode: "read", ownerAlive: () => true });
  const result = await opening.opened;
  const error = failure(result.ok ? await result.value.sessions(null, 500) : result);
  await opening.close();
  assert.deepEqual([error.reason, error.path], ["corrupt", path]);
  assert.match(error.detail, /malformed/);
  assert.deepEqual(Deno.readFileSync(path), file);
});
