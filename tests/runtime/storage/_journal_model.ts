import type { Consumption } from "../../../src/core/budget/budget.ts";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import type { Grant } from "../../../src/core/policy/grant.ts";
import { type AttemptState, endAttempt } from "../../../src/core/lifecycle/attempt.ts";
import { moveOperation, type OperationState } from "../../../src/core/lifecycle/operation.ts";
import { moveRequest, type RequestState } from "../../../src/core/lifecycle/request.ts";
import { moveTask, type TaskState } from "../../../src/core/lifecycle/task.ts";
import { NO_CONSUMPTION } from "../../../src/core/budget/budget.ts";

/** The journal as plain maps: the oracle. Every rule is written once more, without SQL. */
export interface Model {
  readonly tasks: Map<string, { state: TaskState; turns: number }>;
  readonly attempts: Map<string, { taskId: string; number: number; state: AttemptState }>;
  readonly operations: Map<
    string,
    { attemptId: string; state: OperationState; grant: string | null }
  >;
  readonly requests: Map<string, RequestState>;
  readonly messages: Map<string, { text: string; complete: boolean }>;
  readonly grants: Map<string, { taskId: string; state: Grant["state"]; once: boolean }>;
}

export function emptyModel(): Model {
  return {
    tasks: new Map(),
    attempts: new Map(),
    operations: new Map(),
    requests: new Map(),
    messages: new Map(),
    grants: new Map(),
  };
}

/** Applies an event to the model; false when it is not legal, and then the model is spoilt. */
export function applyToModel(model: Model, event: DomainEvent): boolean {
  switch (event.type) {
    case "task_created":
      if (model.tasks.has(event.taskId)) return false;
      model.tasks.set(event.taskId, { state: "pending", turns: NO_CONSUMPTION.turns });
      return true;
    case "task_moved": {
      const task = model.tasks.get(event.taskId);
      if (task === undefined || task.state !== event.from) return false;
      task.state = event.to;
      return moveTask(event.from, event.to).ok;
    }
    case "budget_consumed": {
      const task = model.tasks.get(event.taskId);
      if (task === undefined || event.consumption.turns < task.turns) return false;
      task.turns = event.consumption.turns;
      return true;
    }
    case "attempt_started": {
      const others = [...model.attempts.values()].filter((a) => a.taskId === event.taskId);
      if (!model.tasks.has(event.taskId) || model.attempts.has(event.attemptId)) return false;
      if (others.some((attempt) => attempt.state === "open")) return false;
      const { taskId, number } = event;
      model.attempts.set(event.attemptId, { taskId, number, state: "open" });
      return number === others.length + 1;
    }
    case "attempt_ended": {
      const attempt = model.attempts.get(event.attemptId);
      if (attempt === undefined || !endAttempt(attempt.state, event.outcome).ok) return false;
      attempt.state = event.outcome;
      return true;
    }
    case "operation_requested": {
      const { attemptId } = event;
      if (model.attempts.get(attemptId)?.state !== "open") return false;
      if (model.operations.has(event.operationId)) return false;
      model.operations.set(event.operationId, { attemptId, state: "requested", grant: null });
      return true;
    }
    case "operation_authorized":
      return moveModel(model, { id: event.operationId, to: "authorized" });
    case "operation_denied":
      return moveModel(model, { id: event.operationId, to: "denied" });
    case "operation_intended": {
      if (!moveModel(model, { id: event.operationId, to: "intent_committed" })) return false;
      if (event.consumes === null) return true;
      const operation = model.operations.get(event.operationId);
      const grant = model.grants.get(event.consumes);
      if (operation === undefined || grant === undefined) return false;
      if (grant.state !== "active" || !grant.once) return false;
      if (model.attempts.get(operation.attemptId)?.taskId !== grant.taskId) return false;
      grant.state = "consumed";
      operation.grant = event.consumes;
      return true;
    }
    case "operation_dispatched":
      return moveModel(model, { id: event.operationId, to: "dispatched" });
    case "operation_finished":
      return moveModel(model, { id: event.operationId, to: "known_result" });
    case "operation_unknown":
      return moveModel(model, { id: event.operationId, to: "unknown" });
    case "operation_settled":
      if (model.operations.get(event.operationId)?.state !== "unknown") return false;
      return moveModel(model, { id: event.operationId, to: "known_result" });
    case "operation_cancelled":
      return moveModel(model, { id: event.operationId, to: event.reason });
    case "request_reserved":
      if (model.attempts.get(event.attemptId)?.state !== "open") return false;
      if (model.requests.has(event.requestId)) return false;
      model.requests.set(event.requestId, "reserved");
      return true;
    case "request_dispatched":
    case "request_ended": {
      const from = model.requests.get(event.requestId);
      const to = event.type === "request_ended" ? event.outcome : "dispatched";
      if (from === undefined || !moveRequest(from, to).ok) return false;
      model.requests.set(event.requestId, to);
      return true;
    }
    case "message_started":
      if (!model.requests.has(event.requestId) || model.messages.has(event.messageId)) return false;
      model.messages.set(event.messageId, { text: "", complete: false });
      return true;
    case "message_checkpointed": {
      const message = model.messages.get(event.messageId);
      if (message === undefined || message.complete) return false;
      if (event.offset !== message.text.length) return false;
      message.text += event.text;
      return true;
    }
    case "message_completed": {
      const message = model.messages.get(event.messageId);
      if (message === undefined || message.complete) return false;
      if (!event.message.text.startsWith(message.text)) return false;
      message.text = event.message.text;
      message.complete = true;
      return true;
    }
    case "grant_issued":
      if (model.grants.has(event.grant.id) || !model.tasks.has(event.taskId)) return false;
      model.grants.set(event.grant.id, {
        taskId: event.taskId,
        state: "active",
        once: event.grant.lifetime === "once",
      });
      return true;
    case "grant_ended": {
      const grant = model.grants.get(event.grantId);
      if (grant === undefined || grant.state !== "active") return false;
      grant.state = event.state;
      return true;
    }
    case "limits_extended":
    case "yolo_set":
    case "intervention_queued":
    case "intervention_edited":
    case "intervention_removed":
    case "intervention_consumed":
    case "workspace_recorded":
    case "session_created":
    case "task_ended":
    case "config_recorded":
    case "baseline_recorded":
    case "message_recorded":
    case "process_started":
    case "processes_left":
    case "artifact_recorded":
    case "verification_ended":
    case "cancel_requested":
    case "force_stop_requested":
    case "history_purged":
      throw new TypeError(`The model does not know "${event.type}"`);
  }
}

function moveModel(
  model: Model,
  { id, to }: { readonly id: string; readonly to: OperationState },
): boolean {
  const operation = model.operations.get(id);
  if (operation === undefined || !moveOperation(operation.state, to).ok) return false;
  operation.state = to;
  return true;
}

/** A consumption that differs in its turns only. */
export function turnsOnly(turns: number): Consumption {
  return { ...NO_CONSUMPTION, turns };
}
