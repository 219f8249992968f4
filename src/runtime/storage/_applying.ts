import type { InvalidTransition } from "../../core/lifecycle/transition.ts";
import type { AttemptId, OperationId, SessionId, TaskId } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import { fail } from "./storage_failure.ts";
import type { Row, Statements } from "./statements.ts";

/** Whom an event belongs to. What it does not name is found through the rows it touches. */
export interface Owner {
  readonly sessionId: SessionId | null;
  readonly taskId: TaskId | null;
  readonly attemptId: AttemptId | null;
}

export const NO_OWNER: Owner = { sessionId: null, taskId: null, attemptId: null };

/** What the application of one event works with; all of it inside one transaction. */
export interface Applying {
  readonly statements: Statements;
  readonly sequence: number;
  readonly wallMs: number;
  /** The task the draft's context names. */
  readonly contextTaskId: TaskId | null;
}

/** Refuses the event, and with it the whole batch. */
export function reject({ statements }: Applying, detail: string): never {
  return fail("invalid_transition", statements.path, detail);
}

/** The new state, or a refusal of the batch. */
export function moved<S>(at: Applying, id: string, result: Result<S, InvalidTransition>): S {
  if (result.ok) return result.value;
  const { machine, from, to } = result.error;
  return reject(at, `Cannot move ${machine} "${id}" from "${from}" to "${to}"`);
}

/** The row, or a refusal when it does not exist. */
export function known(at: Applying, what: string, found: { id: string; row: Row | null }): Row {
  return found.row ?? reject(at, `Cannot find ${what} "${found.id}"`);
}

export function taskOwner(at: Applying, taskId: TaskId): Owner {
  const row = at.statements.get("SELECT session_id FROM tasks WHERE id = ?", taskId);
  const task = known(at, "task", { id: taskId, row });
  return { sessionId: task.id("session_id"), taskId, attemptId: null };
}

export function attemptOwner(at: Applying, attemptId: AttemptId): Owner {
  const row = at.statements.get("SELECT task_id FROM attempts WHERE id = ?", attemptId);
  const taskId: TaskId = known(at, "attempt", { id: attemptId, row }).id("task_id");
  return { ...taskOwner(at, taskId), attemptId };
}

export function operationOwner(at: Applying, operationId: OperationId): Owner {
  const row = at.statements.get("SELECT attempt_id FROM operations WHERE id = ?", operationId);
  return attemptOwner(at, known(at, "operation", { id: operationId, row }).id("attempt_id"));
}

/** The owner of something that may only begin in an attempt that has not ended. */
export function openAttemptOwner(at: Applying, attemptId: AttemptId): Owner {
  const owner = attemptOwner(at, attemptId);
  const row = at.statements.get("SELECT state FROM attempts WHERE id = ?", attemptId);
  const state = known(at, "attempt", { id: attemptId, row }).text("state");
  if (state !== "open") reject(at, `Cannot begin work in attempt "${attemptId}": it is "${state}"`);
  return owner;
}
