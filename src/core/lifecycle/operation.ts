import { err, ok, type Result } from "../result.ts";
import type { InvalidTransition } from "./transition.ts";

/** An operation is one requested action. Its state is its own, never inferred from its task. */
export const OPERATION_STATES = [
  "requested",
  "authorized",
  "intent_committed",
  "dispatched",
  "known_result",
  "unknown",
  "denied",
  "invalidated",
  "cancelled",
] as const;
export type OperationState = typeof OPERATION_STATES[number];

const NEXT: Readonly<Record<OperationState, readonly OperationState[]>> = {
  requested: ["authorized", "denied", "invalidated", "cancelled"],
  authorized: ["intent_committed", "denied", "invalidated", "cancelled"],
  // A known result straight after the intent means: the dispatch was refused before any effect.
  intent_committed: ["dispatched", "known_result", "unknown", "cancelled"],
  dispatched: ["known_result", "unknown"],
  // The user may settle an unknown outcome by an explicit decision.
  unknown: ["known_result"],
  known_result: [],
  denied: [],
  invalidated: [],
  cancelled: [],
};

/** Moves an operation, or says why it cannot move. */
export function moveOperation(
  from: OperationState,
  to: OperationState,
): Result<OperationState, InvalidTransition> {
  return NEXT[from].includes(to) ? ok(to) : err({ machine: "operation", from, to });
}

/** What an unfinished operation is once its owner is gone: nobody knows whether it had effects. */
export function operationAfterLoss(state: OperationState): OperationState {
  switch (state) {
    case "requested":
    case "authorized":
      return "cancelled";
    case "intent_committed":
    case "dispatched":
      return "unknown";
    case "known_result":
    case "unknown":
    case "denied":
    case "invalidated":
    case "cancelled":
      return state;
  }
}
