import assert from "node:assert/strict";
import { CancelSignal } from "../../../src/runtime/execution/attempt.ts";

Deno.test("CancelSignal has two levels, and the first who pulls it stays", () => {
  const cancel = new CancelSignal();
  const state = () => [cancel.by, cancel.signal.aborted, cancel.forced.aborted];
  assert.deepEqual(state(), [null, false, false]);
  cancel.cancel("SIGINT");
  assert.deepEqual(state(), ["SIGINT", true, false]);
  cancel.cancel("user");
  assert.deepEqual(state(), ["SIGINT", true, false]);
  cancel.force("user");
  assert.deepEqual(state(), ["SIGINT", true, true]);
});

Deno.test("CancelSignal.force() cancels too", () => {
  const cancel = new CancelSignal();
  cancel.force("user");
  assert.deepEqual([cancel.by, cancel.signal.aborted, cancel.forced.aborted], ["user", true, true]);
});
