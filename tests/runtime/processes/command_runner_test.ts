import assert from "node:assert/strict";
import { commandRunner } from "../../../src/runtime/processes/command_runner.ts";
import { systemClock, systemTimers } from "../../../src/runtime/system_clock.ts";
import { newOperation, ownedProcesses, quietControls } from "../../support/processes.ts";
import { TestFolder } from "../../support/repository.ts";

Deno.test("CommandRunner.run() starts nothing in a folder that vanished after it was allowed", async () => {
  using folder = new TestFolder();
  folder.write("sub/file", "");
  const processes = ownedProcesses();
  const runner = commandRunner({
    root: folder.path,
    processes,
    clock: systemClock,
    timers: systemTimers,
    graceMs: 300,
    environment: {
      variable: (name) => name === "PATH" ? "/usr/bin:/bin" : null,
      inherit: [],
      set: {},
      secretNames: new Set(),
    },
  });
  const resolved = await runner.resolve("true", "sub");
  assert.ok(resolved.ok);
  const request = {
    operationId: newOperation(),
    argv: ["true"],
    cwd: "sub",
    env: [],
    binding: resolved.value.binding,
    timeoutMs: 5000,
    captureBytes: 1024,
  };
  assert.ok((await runner.run(request, quietControls(processes))).ok);
  Deno.renameSync(`${folder.path}/sub`, `${folder.path}/moved`);
  const gone = await runner.run(request, quietControls(processes));
  assert.ok(!gone.ok && gone.error.reason === "outside_workspace", JSON.stringify(gone));

  // The root itself.
  Deno.renameSync(folder.path, `${folder.path}-moved`);
  try {
    const rootless = await runner.resolve("true", ".");
    assert.ok(!rootless.ok && rootless.error.reason === "outside_workspace");
  } finally {
    Deno.renameSync(`${folder.path}-moved`, folder.path);
  }
});
