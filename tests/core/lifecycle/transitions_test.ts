import assert from "node:assert/strict";
import { ATTEMPT_OUTCOMES, endAttempt } from "../../../src/core/lifecycle/attempt.ts";
import {
  moveOperation,
  OPERATION_STATES,
  operationAfterLoss,
  type OperationState,
} from "../../../src/core/lifecycle/operation.ts";
import { holdsSlot, moveRequest, REQUEST_STATES } from "../../../src/core/lifecycle/request.ts";
import { isTaskAtRest, moveTask, TASK_STATES } from "../../../src/core/lifecycle/task.ts";

/** Every allowed step, written down a second time by hand: the table under test must equal it. */
const TASK_STEPS = `
  pending>ready pending>cancelled pending>failed
  ready>running ready>cancelled ready>failed
  running>waiting running>blocked running>stopping running>completed running>failed
  waiting>running waiting>blocked waiting>stopping
  blocked>ready blocked>stopping
  stopping>cancelled stopping>blocked stopping>failed`;

const OPERATION_STEPS = `
  requested>authorized requested>denied requested>invalidated requested>cancelled
  authorized>intent_committed authorized>denied authorized>invalidated authorized>cancelled
  intent_committed>dispatched intent_committed>known_result intent_committed>unknown
  intent_committed>cancelled dispatched>known_result dispatched>unknown unknown>known_result`;

const REQUEST_STEPS = `
  reserved>dispatched reserved>cancelled_before_dispatch
  dispatched>complete dispatched>uncertain uncertain>released`;

function steps<S extends string>(
  states: readonly S[],
  move: (from: S, to: S) => { readonly ok: boolean },
): string[] {
  return states.flatMap((from) =>
    states.filter((to) => move(from, to).ok).map((to) => `${from}>${to}`)
  ).sort();
}

function words(text: string): string[] {
  return text.trim().split(/\s+/).sort();
}

Deno.test("moveTask() allows exactly the steps of the diagram", () => {
  assert.deepEqual(steps(TASK_STATES, moveTask), words(TASK_STEPS));
});

Deno.test("moveOperation() allows exactly the steps from request to result", () => {
  assert.deepEqual(steps(OPERATION_STATES, moveOperation), words(OPERATION_STEPS));
});

Deno.test("moveRequest() frees an uncertain slot only by release", () => {
  assert.deepEqual(steps(REQUEST_STATES, moveRequest), words(REQUEST_STEPS));
});

Deno.test("moveTask() names the refused step", () => {
  assert.deepEqual(moveTask("completed", "running"), {
    ok: false,
    error: { machine: "task", from: "completed", to: "running" },
  });
});

Deno.test("endAttempt() ends an open attempt once", () => {
  for (const outcome of ATTEMPT_OUTCOMES) {
    assert.deepEqual(endAttempt("open", outcome), { ok: true, value: outcome });
    assert.equal(endAttempt(outcome, "completed").ok, false);
  }
});

Deno.test("operationAfterLoss() calls begun effects unknown and unbegun ones cancelled", () => {
  const expected: Record<OperationState, OperationState> = {
    requested: "cancelled",
    authorized: "cancelled",
    intent_committed: "unknown",
    dispatched: "unknown",
    known_result: "known_result",
    unknown: "unknown",
    denied: "denied",
    invalidated: "invalidated",
    cancelled: "cancelled",
  };
  for (const state of OPERATION_STATES) assert.equal(operationAfterLoss(state), expected[state]);
});

Deno.test("holdsSlot() counts reserved, dispatched and uncertain requests", () => {
  assert.deepEqual(REQUEST_STATES.filter(holdsSlot), ["reserved", "dispatched", "uncertain"]);
});

Deno.test("isTaskAtRest() is false where something may execute", () => {
  assert.deepEqual(TASK_STATES.filter((state) => !isTaskAtRest(state)), [
    "ready",
    "running",
    "waiting",
    "stopping",
  ]);
});
