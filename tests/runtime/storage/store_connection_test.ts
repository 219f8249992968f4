import assert from "node:assert/strict";
import type { NumberedRequest } from "../../../src/runtime/storage/protocol.ts";
import {
  MAX_QUEUED_BYTES,
  MAX_QUEUED_REQUESTS,
  StoreConnection,
  type StoreWorker,
} from "../../../src/runtime/storage/store_connection.ts";
import { newId } from "../../support/ids.ts";
import { failure } from "./_fixture.ts";

/** A worker that answers only what it is told to answer. */
class SilentWorker extends EventTarget implements StoreWorker {
  readonly requests: NumberedRequest[] = [];
  terminated = false;

  postMessage(message: NumberedRequest): void {
    this.requests.push(message);
    if (message.request.type === "close") this.answer(message.id);
  }

  answer(id: number): void {
    const data = { id, result: { ok: true, value: null } };
    this.dispatchEvent(new MessageEvent("message", { data }));
  }

  terminate(): void {
    this.terminated = true;
  }
}

Deno.test("StoreConnection refuses more requests than its queue holds, at once", async () => {
  const worker = new SilentWorker();
  const connection = new StoreConnection(worker, "/d");
  const waiting = Array.from(
    { length: MAX_QUEUED_REQUESTS },
    () => connection.call({ type: "unfinished" }),
  );
  assert.equal(failure(await connection.call({ type: "unfinished" })).reason, "queue_full");
  assert.equal(worker.requests.length, MAX_QUEUED_REQUESTS);
  // One answer makes room for one request.
  worker.answer(1);
  assert.ok((await waiting[0])?.ok);
  const next = connection.call({ type: "unfinished" });
  assert.equal(worker.requests.length, MAX_QUEUED_REQUESTS + 1);
  for (const { id } of worker.requests) worker.answer(id);
  assert.ok((await next).ok);
  await connection.close();
});

Deno.test("StoreConnection refuses more bytes than its queue holds, at once", async () => {
  const worker = new SilentWorker();
  const connection = new StoreConnection(worker, "/d");
  const artifact = { id: newId("artifact"), kind: "diff", droppedBytes: 0 } as const;
  const bytes = new Uint8Array(MAX_QUEUED_BYTES / 2);
  const put = () => connection.call({ type: "put_artifact", artifact, bytes });
  const waiting = [put(), put()];
  assert.equal(failure(await put()).reason, "queue_full");
  assert.equal(
    failure(await connection.call({ type: "append", drafts: "[]" })).reason,
    "queue_full",
  );
  // What carries nothing still passes.
  const query = connection.call({ type: "unfinished" });
  for (const { id } of worker.requests) worker.answer(id);
  await Promise.all([...waiting, query]);
  // All are answered: there is room again.
  const again = put();
  for (const { id } of worker.requests) worker.answer(id);
  assert.ok((await again).ok);
  await connection.close();
});

Deno.test("StoreConnection ends every call when its worker fails, and every later one", async () => {
  const worker = new SilentWorker();
  const connection = new StoreConnection(worker, "/d");
  const waiting = [
    connection.call({ type: "append", drafts: "[]" }).then(failure),
    connection.call({ type: "unfinished" }).then(failure),
  ];
  const event = new ErrorEvent("error", { message: "boom", cancelable: true });
  worker.dispatchEvent(event);
  for (const error of await Promise.all(waiting)) {
    assert.deepEqual([error.reason, error.path], ["worker_lost", "/d"]);
    assert.match(error.detail, /boom/);
  }
  assert.ok(event.defaultPrevented, "the process would end");
  assert.ok(worker.terminated);
  assert.equal(failure(await connection.call({ type: "unfinished" })).reason, "worker_lost");
  await connection.close();
  assert.equal(worker.requests.length, 2);
});

Deno.test("StoreConnection gives a worker up that has vanished without a word", async () => {
  const worker = new SilentWorker();
  const connection = new StoreConnection(worker, "/d", { answerTimeoutMs: 1 });
  const waiting = [1, 2].map(() => connection.call({ type: "unfinished" }));
  for (const result of await Promise.all(waiting)) {
    const error = failure(result);
    assert.equal(error.reason, "worker_lost");
    assert.match(error.detail, /no answer for 1 ms/);
  }
  assert.ok(worker.terminated);
  assert.equal(failure(await connection.call({ type: "unfinished" })).reason, "worker_lost");
});

Deno.test("StoreConnection ends its calls when its worker is terminated", async () => {
  const worker = new Worker(new URL("./_dying_worker.ts", import.meta.url), { type: "module" });
  const connection = new StoreConnection(worker, "/d", { answerTimeoutMs: 50 });
  const waiting = connection.call({ type: "unfinished" });
  worker.terminate();
  assert.equal(failure(await waiting).reason, "worker_lost");
});

Deno.test("StoreConnection lets what is under way finish before it closes", async () => {
  const worker = new SilentWorker();
  const connection = new StoreConnection(worker, "/d");
  const under = connection.call({ type: "unfinished" });
  const closing = connection.close();
  assert.equal(failure(await connection.call({ type: "unfinished" })).reason, "worker_lost");
  worker.answer(1);
  assert.ok((await under).ok);
  await closing;
  await connection.close();
  assert.deepEqual(worker.requests.map(({ request }) => request.type), ["unfinished", "close"]);
  assert.ok(worker.terminated);
});

Deno.test("StoreConnection ends its calls when a real worker dies of an error", async () => {
  const worker = new Worker(new URL("./_dying_worker.ts", import.meta.url), { type: "module" });
  const connection = new StoreConnection(worker, "/d");
  const waiting = [1, 2, 3].map(() => connection.call({ type: "unfinished" }));
  for (const result of await Promise.all(waiting)) {
    assert.equal(failure(result).reason, "worker_lost");
  }
  await connection.close();
});

Deno.test("StoreConnection ends its calls when a worker cannot even start", async () => {
  const worker = new Worker(new URL("./_no_such_worker.ts", import.meta.url), { type: "module" });
  const connection = new StoreConnection(worker, "/d");
  assert.equal(failure(await connection.call({ type: "unfinished" })).reason, "worker_lost");
});
