import assert from "node:assert/strict";
import {
  startWorkspaceWorker,
  type WorkspaceWorkerOptions,
} from "../../../src/runtime/workspace/client.ts";

/** A worker that is not the real one: what a dying or silent worker looks like from outside. */
function workerOf(source: string): URL {
  return new URL(`data:application/javascript,${encodeURIComponent(source)}`);
}

const VERSIONS = { type: "versions", paths: [] } as const;

async function reasons(options: WorkspaceWorkerOptions, calls: number): Promise<string[]> {
  await using worker = startWorkspaceWorker(options);
  const replies = await Promise.all(Array.from({ length: calls }, () => worker.call(VERSIONS)));
  return replies.map((reply) => reply.ok ? "ok" : reply.error.reason);
}

Deno.test("startWorkspaceWorker() answers worker_lost when the worker throws", async () => {
  const module = workerOf(`self.onmessage = () => { throw new Error("gone"); };`);
  assert.deepEqual(await reasons({ module }, 3), ["worker_lost", "worker_lost", "worker_lost"]);
});

Deno.test("startWorkspaceWorker() answers worker_lost when the module does not load", async () => {
  const module = workerOf("this is not a module");
  assert.deepEqual(await reasons({ module }, 1), ["worker_lost"]);
});

for (const [what, source] of [["ends without a word", "self.close()"], ["loops", "for (;;);"]]) {
  Deno.test(`startWorkspaceWorker() answers worker_lost when the worker ${what}`, async () => {
    const module = workerOf(`self.onmessage = () => { ${source} };`);
    assert.deepEqual(await reasons({ module, requestTimeoutMs: 200 }, 2), [
      "worker_lost",
      "worker_lost",
    ]);
  });
}

Deno.test("startWorkspaceWorker() refuses more than its queue holds at once", async () => {
  const module = workerOf(
    `self.onmessage = ({ data }) => self.postMessage({ id: data.id, result: { ok: true, value: [] } });`,
  );
  assert.deepEqual(await reasons({ module, maxPending: 2 }, 3), ["ok", "ok", "io"]);
});

Deno.test("startWorkspaceWorker() refuses a request before the workspace is open", async () => {
  await using worker = startWorkspaceWorker();
  const reply = await worker.call({ type: "read_bytes", path: "a", maxBytes: 1 });
  assert.ok(!reply.ok);
  assert.match(reply.error.detail, /not open/);
});

Deno.test("startWorkspaceWorker() counts its wait from the latest answer", async () => {
  // Each answer takes most of the wait; all of them together take several.
  const module = workerOf(
    `self.onmessage = ({ data }) => {
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
       self.postMessage({ id: data.id, result: { ok: true, value: [] } });
     };`,
  );
  assert.deepEqual(await reasons({ module, requestTimeoutMs: 1_000 }, 4), ["ok", "ok", "ok", "ok"]);
});
