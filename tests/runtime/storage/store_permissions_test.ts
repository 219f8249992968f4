import assert from "node:assert/strict";
import { storeWorkerPermissions } from "../../../src/runtime/storage/store_permissions.ts";
import { temporaryStore } from "./_fixture.ts";

/** A worker with the store worker's permissions that tries everything it must not do. */
Deno.test("storeWorkerPermissions() allow the data directory and nothing else", async () => {
  using place = temporaryStore();
  Deno.mkdirSync(place.directory);
  Deno.writeTextFileSync(`${place.root}/secret`, "x");
  const worker = new Worker(new URL("./_confined_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: storeWorkerPermissions(place.directory) },
  });
  const outcomes = await new Promise<Record<string, string>>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ root: place.root, directory: place.directory });
  });
  worker.terminate();
  assert.deepEqual(outcomes, {
    "write inside": "done",
    "read inside": "done",
    "database inside": "done",
    "read outside": "NotCapable",
    "write outside": "NotCapable",
    "list outside": "NotCapable",
    "climb out": "NotCapable",
    "database outside": "NotCapable",
    "rename out": "NotCapable",
    "environment": "NotCapable",
    "process": "NotCapable",
    "user id": "NotCapable",
    "library": "NotCapable",
    "network": "NotCapable",
  });
  assert.equal(Deno.readTextFileSync(`${place.root}/secret`), "x");
});
