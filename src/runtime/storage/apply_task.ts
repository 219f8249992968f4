import { type BudgetLimits, type Consumption, NO_CONSUMPTION } from "../../core/budget/budget.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { TaskId } from "../../core/ids.ts";
import { moveTask, TASK_STATES, type TaskState } from "../../core/lifecycle/task.ts";
import { type Applying, known, moved, type Owner, reject, taskOwner } from "./_applying.ts";

type TaskEvent = Extract<
  DomainEvent,
  {
    type:
      | "task_created"
      | "task_moved"
      | "task_ended"
      | "budget_consumed"
      | "limits_extended"
      | "yolo_set"
      | "intervention_queued"
      | "intervention_edited"
      | "intervention_removed"
      | "intervention_consumed"
      | "cancel_requested"
      | "force_stop_requested";
  }
>;

/** Tasks: state, budget, result. */
export function applyTask(at: Applying, event: TaskEvent): Owner {
  switch (event.type) {
    case "task_created":
      create(at, event);
      break;
    case "task_moved":
      move(at, event);
      break;
    case "task_ended":
      end(at, event);
      break;
    case "budget_consumed":
      consume(at, event);
      break;
    case "limits_extended":
      extend(at, event);
      break;
    case "yolo_set":
      at.statements.run(
        "UPDATE tasks SET yolo = ?, updated_wall_ms = ? WHERE id = ?",
        event.on ? 1 : 0,
        at.wallMs,
        event.taskId,
      );
      break;
    case "intervention_queued":
    case "intervention_edited":
    case "intervention_removed":
    case "intervention_consumed":
    case "cancel_requested":
    case "force_stop_requested":
      // Facts of their own; what they lead to comes as events of its own.
      break;
  }
  return taskOwner(at, event.taskId);
}

function create(at: Applying, event: Extract<TaskEvent, { type: "task_created" }>): void {
  at.statements.run(
    `INSERT INTO tasks (id, session_id, goal, state, limits, consumption, verification, yolo,
       created_wall_ms, updated_wall_ms, created_sequence)
     VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)`,
    event.taskId,
    event.sessionId,
    event.goal,
    JSON.stringify(event.limits),
    JSON.stringify(NO_CONSUMPTION),
    JSON.stringify(event.verification),
    event.yolo ? 1 : 0,
    at.wallMs,
    at.wallMs,
    at.sequence,
  );
}

function move(at: Applying, event: Extract<TaskEvent, { type: "task_moved" }>): void {
  const current = stateOf(at, event.taskId);
  if (current !== event.from) {
    reject(at, `Cannot move task "${event.taskId}" from "${event.from}": it is "${current}"`);
  }
  const state = moved(at, event.taskId, moveTask(current, event.to));
  // The result of a blocked task is of no more use once the task goes on.
  const result = state === "ready" ? ", result = NULL" : "";
  at.statements.run(
    `UPDATE tasks SET state = ?, reason = ?, updated_wall_ms = ?${result} WHERE id = ?`,
    state,
    event.reason,
    at.wallMs,
    event.taskId,
  );
}

/** The move to the final state comes first, so the result can never contradict the state. */
function end(at: Applying, { taskId, result }: Extract<TaskEvent, { type: "task_ended" }>): void {
  const current = stateOf(at, taskId);
  if (current !== result.status) {
    reject(at, `Cannot end task "${taskId}" as "${result.status}": it is "${current}"`);
  }
  at.statements.run(
    "UPDATE tasks SET result = ?, consumption = ?, updated_wall_ms = ? WHERE id = ?",
    JSON.stringify(result),
    JSON.stringify(grown(at, { taskId, to: result.consumption })),
    at.wallMs,
    taskId,
  );
}

/** Limits only grow: a lower one would make consumption look like a defect. */
function extend(
  at: Applying,
  { taskId, limits }: Extract<TaskEvent, { type: "limits_extended" }>,
): void {
  const row = at.statements.get("SELECT limits FROM tasks WHERE id = ?", taskId);
  const before = known(at, "task", { id: taskId, row }).json<BudgetLimits>("limits");
  if (
    limits.maxTurns < before.maxTurns || limits.maxActiveSeconds < before.maxActiveSeconds ||
    limits.maxToolCalls < before.maxToolCalls || limits.maxTotalTokens < before.maxTotalTokens
  ) {
    reject(at, `Cannot lower the limits of task "${taskId}"`);
  }
  at.statements.run(
    "UPDATE tasks SET limits = ?, updated_wall_ms = ? WHERE id = ?",
    JSON.stringify(limits),
    at.wallMs,
    taskId,
  );
}

function consume(at: Applying, event: Extract<TaskEvent, { type: "budget_consumed" }>): void {
  at.statements.run(
    "UPDATE tasks SET consumption = ?, updated_wall_ms = ? WHERE id = ?",
    JSON.stringify(grown(at, { taskId: event.taskId, to: event.consumption })),
    at.wallMs,
    event.taskId,
  );
}

/** Consumption never resets: a total below the recorded one is refused. */
function grown(
  at: Applying,
  { taskId, to }: { readonly taskId: TaskId; readonly to: Consumption },
): Consumption {
  const row = at.statements.get("SELECT consumption FROM tasks WHERE id = ?", taskId);
  const before = known(at, "task", { id: taskId, row }).json<Consumption>("consumption");
  if (
    to.turns < before.turns || to.activeMs < before.activeMs || to.toolCalls < before.toolCalls ||
    to.tokens < before.tokens || to.estimatedTokens < before.estimatedTokens
  ) {
    reject(at, `Cannot lower the consumption of task "${taskId}"`);
  }
  return to;
}

function stateOf(at: Applying, taskId: TaskId): TaskState {
  const row = at.statements.get("SELECT state FROM tasks WHERE id = ?", taskId);
  return known(at, "task", { id: taskId, row }).oneOf("state", TASK_STATES);
}
