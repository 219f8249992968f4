import { err, ok, type Result } from "../result.ts";
import type { InvalidTransition } from "./transition.ts";

/** An attempt is one execution or resume of a task. It is open until it has an outcome. */
export const ATTEMPT_OUTCOMES = [
  "completed",
  "failed",
  "blocked",
  "cancelled",
  "interrupted",
] as const;
export type AttemptOutcome = typeof ATTEMPT_OUTCOMES[number];
export type AttemptState = "open" | AttemptOutcome;

/** Ends an attempt. An ended attempt never changes. */
export function endAttempt(
  from: AttemptState,
  outcome: AttemptOutcome,
): Result<AttemptState, InvalidTransition> {
  return from === "open" ? ok(outcome) : err({ machine: "attempt", from, to: outcome });
}
