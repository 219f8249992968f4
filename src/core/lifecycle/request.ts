import { err, ok, type Result } from "../result.ts";
import type { InvalidTransition } from "./transition.ts";

/** A provider request is one physical HTTP request and the slot it holds. */
export const REQUEST_STATES = [
  "reserved",
  "dispatched",
  "complete",
  "cancelled_before_dispatch",
  "uncertain",
  "released",
] as const;
export type RequestState = typeof REQUEST_STATES[number];

const NEXT: Readonly<Record<RequestState, readonly RequestState[]>> = {
  reserved: ["dispatched", "cancelled_before_dispatch"],
  dispatched: ["complete", "uncertain"],
  complete: [],
  cancelled_before_dispatch: [],
  // Only an explicit act of the user frees an uncertain slot (`fluzo capacity release`).
  uncertain: ["released"],
  released: [],
};

/** Moves a request, or says why it cannot move. */
export function moveRequest(
  from: RequestState,
  to: RequestState,
): Result<RequestState, InvalidTransition> {
  return NEXT[from].includes(to) ? ok(to) : err({ machine: "request", from, to });
}

/** Whether a request in this state occupies a slot of its model and pool. */
export function holdsSlot(state: RequestState): boolean {
  return state === "reserved" || state === "dispatched" || state === "uncertain";
}
