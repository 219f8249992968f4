import { err, ok, type Result } from "../result.ts";
import type { InvalidTransition } from "./transition.ts";

/** A task is one work request with a budget and a verification contract. */
export const TASK_STATES = [
  "pending",
  "ready",
  "running",
  "waiting",
  "blocked",
  "stopping",
  "completed",
  "failed",
  "cancelled",
] as const;
export type TaskState = typeof TASK_STATES[number];

/** Why a task waits or is blocked; machine-readable, shown with its remedy. */
export const TASK_REASONS = [
  "permission_required",
  "budget_exhausted",
  "context_exhausted",
  "capacity_exhausted",
  "capacity_wait_timeout",
  "provider_failed",
  "repeated_call",
  "no_progress",
  "unknown_outcome",
  "interrupted",
  "storage_failed",
  "termination_uncertain",
] as const;
export type TaskReason = typeof TASK_REASONS[number];

/** Where a task may go from each state (`architecture.md` §6.2 and `product.md` §0). */
const NEXT: Readonly<Record<TaskState, readonly TaskState[]>> = {
  pending: ["ready", "cancelled", "failed"],
  ready: ["running", "cancelled", "failed"],
  running: ["waiting", "blocked", "stopping", "completed", "failed"],
  waiting: ["running", "blocked", "stopping"],
  blocked: ["ready", "stopping"],
  stopping: ["cancelled", "blocked", "failed"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** A task in one of these states executes nothing. */
export function isTaskAtRest(state: TaskState): boolean {
  return state === "completed" || state === "failed" || state === "cancelled" ||
    state === "blocked" || state === "pending";
}

/** Moves a task, or says why it cannot move. */
export function moveTask(from: TaskState, to: TaskState): Result<TaskState, InvalidTransition> {
  return NEXT[from].includes(to) ? ok(to) : err({ machine: "task", from, to });
}
