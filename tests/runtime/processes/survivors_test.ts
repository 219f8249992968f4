import assert from "node:assert/strict";
import { NONE_LEFT, type ProcessIdentity } from "../../../src/core/left_processes.ts";
import { bootId, processStartTicks } from "../../../src/runtime/linux/process_identity.ts";
import { findSurvivors } from "../../../src/runtime/processes/survivors.ts";
import { systemTimers } from "../../../src/runtime/system_clock.ts";
import { newOperation } from "../../support/processes.ts";

async function leftOf(first: ProcessIdentity | null, left = NONE_LEFT) {
  const id = newOperation();
  const [survivors] = await findSurvivors([{ id, first, left }], systemTimers);
  assert.equal(survivors?.operationId, id);
  return survivors.left;
}

Deno.test("findSurvivors() names a process by number, start and boot together, never by less", async () => {
  const child = new Deno.Command("/bin/sleep", { args: ["60"], clearEnv: true }).spawn();
  const { pid } = child;
  try {
    const startTicks = processStartTicks(pid);
    assert.ok(startTicks !== null);
    const identity = { pid, startTicks, bootId: bootId() };
    const named = { processes: [{ ...identity, command: "/bin/sleep 60" }], more: 0 };
    assert.deepEqual(await leftOf(identity), named);
    assert.deepEqual(await leftOf(null, named), named);
    // The number was given out again: it began later than what was recorded.
    const earlier = String(Number(startTicks) - 1);
    assert.deepEqual(await leftOf({ ...identity, startTicks: earlier }), NONE_LEFT);
    assert.deepEqual(await leftOf({ ...identity, bootId: "another boot" }), NONE_LEFT);
    assert.deepEqual(await leftOf(null), NONE_LEFT);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
});

Deno.test("findSurvivors() finds by its marker what was never written down", async () => {
  const id = newOperation();
  const child = new Deno.Command("/bin/sleep", {
    args: ["60"],
    clearEnv: true,
    env: { FLUZO_OPERATION: id },
  }).spawn();
  try {
    const survivors = await findSurvivors([{ id, first: null, left: NONE_LEFT }], systemTimers);
    assert.deepEqual(survivors.map(({ left }) => left.processes.map(({ pid }) => pid)), [
      [child.pid],
    ]);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
  const gone = await findSurvivors([{ id, first: null, left: NONE_LEFT }], systemTimers);
  assert.deepEqual(gone.map(({ left }) => left), [NONE_LEFT]);
});
