import type { DomainEvent } from "../../core/events/event.ts";
import type { AttemptId } from "../../core/ids.ts";
import { ATTEMPT_OUTCOMES, type AttemptState, endAttempt } from "../../core/lifecycle/attempt.ts";
import { type Applying, attemptOwner, known, moved, type Owner, reject } from "./_applying.ts";

/** Every state an attempt's row may hold. */
export const ATTEMPT_STATES: readonly AttemptState[] = ["open", ...ATTEMPT_OUTCOMES];

type AttemptEvent = Extract<
  DomainEvent,
  { type: "attempt_started" | "attempt_ended" | "baseline_recorded" }
>;

/** Attempts: numbered without gaps, at most one open in a task. */
export function applyAttempt(at: Applying, event: AttemptEvent): Owner {
  switch (event.type) {
    case "attempt_started":
      start(at, event);
      break;
    case "attempt_ended": {
      const state = moved(
        at,
        event.attemptId,
        endAttempt(stateOf(at, event.attemptId), event.outcome),
      );
      at.statements.run(
        "UPDATE attempts SET state = ?, error = ?, ended_wall_ms = ? WHERE id = ?",
        state,
        event.error === null ? null : JSON.stringify(event.error),
        at.wallMs,
        event.attemptId,
      );
      break;
    }
    case "baseline_recorded": {
      const state = stateOf(at, event.attemptId);
      const changed = at.statements.run(
        "UPDATE attempts SET baseline = ? WHERE id = ? AND state = 'open' AND baseline IS NULL",
        JSON.stringify(event.baseline),
        event.attemptId,
      );
      if (changed !== 1) {
        reject(at, `Cannot record a baseline of attempt "${event.attemptId}": it is "${state}"`);
      }
      break;
    }
  }
  return attemptOwner(at, event.attemptId);
}

function start(at: Applying, event: Extract<AttemptEvent, { type: "attempt_started" }>): void {
  const last = at.statements.get(
    "SELECT coalesce(max(number), 0) AS number FROM attempts WHERE task_id = ?",
    event.taskId,
  )?.integer("number") ?? 0;
  if (event.number !== last + 1) {
    reject(at, `Cannot start attempt ${event.number} of "${event.taskId}": the last is ${last}`);
  }
  at.statements.run(
    `INSERT INTO attempts (id, task_id, number, trace_id, instance_id, snapshot_id, model, state,
       started_wall_ms, started_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, 'open', ?, ?)`,
    event.attemptId,
    event.taskId,
    event.number,
    event.traceId,
    event.instanceId,
    event.snapshotId,
    event.model,
    at.wallMs,
    at.sequence,
  );
}

function stateOf(at: Applying, attemptId: AttemptId): AttemptState {
  const row = at.statements.get("SELECT state FROM attempts WHERE id = ?", attemptId);
  return known(at, "attempt", { id: attemptId, row }).oneOf("state", ATTEMPT_STATES);
}
