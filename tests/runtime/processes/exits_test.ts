import assert from "node:assert/strict";
import { openProcess } from "../../../src/runtime/linux/pidfd.ts";
import { allEnded } from "../../../src/runtime/processes/exits.ts";
import { systemTimers } from "../../../src/runtime/system_clock.ts";

/** Children that run for these seconds, with their handles; killed and closed at the end. */
function sleepers(...seconds: readonly number[]) {
  const children = seconds.map((time) =>
    new Deno.Command("/bin/sleep", { args: [String(time)] }).spawn()
  );
  const handles = children.map(({ pid }) => openProcess(pid)).filter((fd) => fd !== null);
  return {
    handles,
    async [Symbol.asyncDispose]() {
      for (const handle of handles) handle.close();
      for (const child of children) {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has ended.
        }
        await child.status;
      }
    },
  };
}

async function waited(
  handles: Parameters<typeof allEnded>[0],
  withinMs: number,
  force: AbortSignal,
) {
  const startMs = performance.now();
  await allEnded(handles, { withinMs, force, timers: systemTimers });
  return performance.now() - startMs;
}

const NEVER = new AbortController().signal;

Deno.test("allEnded() waits for the last of several processes", async () => {
  await using all = sleepers(0.1, 0.3, 0.2);
  const ms = await waited(all.handles, 10_000, NEVER);
  assert.ok(ms >= 250 && ms < 5000, `${ms} ms`);
  assert.ok(await waited(all.handles, 10_000, NEVER) < 1000, "what has ended is not waited for");
});

Deno.test("allEnded() gives up when the time is up or it is forced", async () => {
  await using all = sleepers(0.1, 60);
  assert.ok(await waited(all.handles, 200, NEVER) < 5000);
  const force = new AbortController();
  setTimeout(() => force.abort(), 100);
  assert.ok(await waited(all.handles, 60_000, force.signal) < 5000);
  assert.ok(await waited(all.handles, 60_000, force.signal) < 1000, "forced before");
  assert.ok(await waited([], 60_000, NEVER) < 1000, "nothing to wait for");
});

Deno.test("allEnded() leaves the isolate free", async () => {
  await using all = sleepers(0.3);
  let ticks = 0;
  const interval = setInterval(() => ticks++, 10);
  await waited(all.handles, 10_000, NEVER);
  clearInterval(interval);
  assert.ok(ticks > 10, `${ticks} ticks`);
});
