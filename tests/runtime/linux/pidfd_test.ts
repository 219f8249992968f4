import assert from "node:assert/strict";
import {
  adoptOrphans,
  openProcess,
  reapProcess,
  signalProcess,
} from "../../../src/runtime/linux/pidfd.ts";
import { readProcess } from "../../../src/runtime/linux/process_table.ts";
import { allEnded } from "../../../src/runtime/processes/exits.ts";
import { systemTimers } from "../../../src/runtime/system_clock.ts";

const NEVER = new AbortController().signal;

Deno.test("a handle reaches its process, and nobody once that is gone", async () => {
  const child = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
  using process = openProcess(child.pid);
  assert.ok(process !== null);
  assert.equal(signalProcess(process, "SIGCONT"), "sent");
  assert.equal(signalProcess(process, "SIGTERM"), "sent");
  assert.equal((await child.status).signal, "SIGTERM");
  assert.equal(signalProcess(process, "SIGKILL"), "gone");
  assert.equal(openProcess(child.pid), null);
});

Deno.test("a handle of another user's process says that it may not be signalled", () => {
  using first = openProcess(1);
  assert.ok(first !== null);
  const outcome = signalProcess(first, "SIGCONT");
  // In a container this user may own it.
  assert.ok(outcome === "forbidden" || outcome === "sent");
});

Deno.test("reapProcess() takes an adopted child when it has ended, not before and not twice", async () => {
  adoptOrphans(true);
  try {
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", "sleep 0.3 >/dev/null 2>&1 & echo $!"],
    }).output();
    const pid = Number(new TextDecoder().decode(stdout));
    using process = openProcess(pid);
    assert.ok(process !== null);
    assert.equal(readProcess(pid)?.parent, Deno.pid);
    assert.equal(reapProcess(process), false);
    await allEnded([process], { withinMs: 5000, force: NEVER, timers: systemTimers });
    assert.equal(readProcess(pid)?.state, "ended");
    assert.equal(reapProcess(process), true);
    assert.equal(readProcess(pid), null);
    assert.equal(reapProcess(process), false);
  } finally {
    adoptOrphans(false);
  }
});

Deno.test("reapProcess() takes nothing that is no child of this process", () => {
  using first = openProcess(1);
  assert.ok(first !== null);
  assert.equal(reapProcess(first), false);
});
