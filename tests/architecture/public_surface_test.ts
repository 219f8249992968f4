import assert from "node:assert/strict";
import * as fluzo from "../../mod.ts";

Deno.test("mod.ts gives out exactly what is meant to be used", () => {
  assert.deepEqual(Object.keys(fluzo).sort(), [
    "ConsentStore",
    "describeError",
    "findWorkspaceRoot",
    "loadConfig",
    "openHost",
    "randomIds",
    "systemClock",
    "userPaths",
    "workspaceIdentity",
  ]);
});
