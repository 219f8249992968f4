import assert from "node:assert/strict";
import { KINDS } from "./kinds.ts";
import { soakRun } from "./soak_run.ts";

/** `deno task soak` does a thousand; here one of each shows that none has gone stale. */
const SEED = 7;

for (const kind of Object.keys(KINDS)) {
  Deno.test(`soak: ${kind}`, async () => {
    assert.deepEqual(await soakRun(kind, SEED), { type: "as_expected" });
  });
}
