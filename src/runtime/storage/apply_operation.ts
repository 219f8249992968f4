import type { DomainEvent } from "../../core/events/event.ts";
import type { OperationId } from "../../core/ids.ts";
import {
  moveOperation,
  OPERATION_STATES,
  type OperationState,
} from "../../core/lifecycle/operation.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import {
  type Applying,
  known,
  moved,
  openAttemptOwner,
  operationOwner,
  type Owner,
  reject,
} from "./_applying.ts";
import { consumeGrant } from "./apply_grant.ts";

type OperationEvent = Extract<
  DomainEvent,
  {
    type:
      | "operation_requested"
      | "operation_authorized"
      | "operation_denied"
      | "operation_intended"
      | "operation_dispatched"
      | "process_started"
      | "processes_left"
      | "operation_finished"
      | "operation_unknown"
      | "operation_settled"
      | "operation_cancelled"
      | "verification_ended";
  }
>;

/** Operations: intent before dispatch, one grant for one intent, unknown stays unknown. */
export function applyOperation(at: Applying, event: OperationEvent): Owner {
  const id = event.operationId;
  switch (event.type) {
    case "operation_requested":
      return request(at, event);
    case "operation_authorized": {
      move(at, { id, to: "authorized" });
      const evidence = JSON.stringify(event.evidence);
      at.statements.run("UPDATE operations SET evidence = ? WHERE id = ?", evidence, id);
      break;
    }
    case "operation_denied": {
      move(at, { id, to: "denied" });
      at.statements.run(
        "UPDATE operations SET evidence = ?, summary = ? WHERE id = ?",
        JSON.stringify(event.evidence),
        event.reason,
        id,
      );
      break;
    }
    case "operation_intended":
      intend(at, event);
      break;
    case "operation_dispatched":
      move(at, { id, to: "dispatched" });
      break;
    case "process_started": {
      const changed = at.statements.run(
        `UPDATE operations SET pid = ?, start_ticks = ?, boot_id = ?
         WHERE id = ? AND state = 'dispatched' AND pid IS NULL`,
        event.pid,
        event.startTicks,
        event.bootId,
        id,
      );
      if (changed !== 1) {
        reject(at, `Cannot record a process of operation "${id}": it is not newly dispatched`);
      }
      break;
    }
    case "processes_left": {
      const { processes, more } = event.left;
      const changed = at.statements.run(
        `UPDATE operations SET left_running = ?
         WHERE id = ? AND state IN ('dispatched', 'known_result', 'unknown')`,
        processes.length === 0 && more === 0 ? null : JSON.stringify(event.left),
        id,
      );
      if (changed !== 1) {
        reject(at, `Cannot name processes of operation "${id}": it was never begun`);
      }
      break;
    }
    case "operation_finished":
      finish(at, event);
      break;
    case "operation_unknown":
      move(at, { id, to: "unknown" });
      at.statements.run("UPDATE operations SET summary = ? WHERE id = ?", event.detail, id);
      break;
    case "operation_settled":
      settle(at, event);
      break;
    case "operation_cancelled":
      move(at, { id, to: event.reason });
      break;
    case "verification_ended": {
      const owner = operationOwner(at, id);
      if (owner.taskId !== event.taskId) {
        reject(at, `Cannot verify task "${event.taskId}" with another task's operation "${id}"`);
      }
      return owner;
    }
  }
  return operationOwner(at, id);
}

function request(
  at: Applying,
  event: Extract<OperationEvent, { type: "operation_requested" }>,
): Owner {
  const owner = openAttemptOwner(at, event.attemptId);
  at.statements.run(
    `INSERT INTO operations (id, attempt_id, task_id, call_id, tool, scope, state,
       updated_wall_ms, requested_sequence) VALUES (?, ?, ?, ?, ?, ?, 'requested', ?, ?)`,
    event.operationId,
    event.attemptId,
    owner.taskId,
    event.callId,
    event.tool,
    JSON.stringify(event.scope),
    at.wallMs,
    at.sequence,
  );
  return owner;
}

function intend(at: Applying, event: Extract<OperationEvent, { type: "operation_intended" }>) {
  const { operationId } = event;
  move(at, { id: operationId, to: "intent_committed" });
  if (event.consumes !== null) {
    const row = at.statements.get("SELECT scope FROM operations WHERE id = ?", operationId);
    consumeGrant(at, {
      grantId: event.consumes,
      operationId,
      taskId: operationOwner(at, operationId).taskId,
      scope: known(at, "operation", { id: operationId, row }).json<OperationScope>("scope"),
    });
  }
  at.statements.run(
    `UPDATE operations SET grant_id = ?, pre_image = ?, before_version = ?, after_version = ?
     WHERE id = ?`,
    event.consumes,
    event.preImage,
    event.before,
    event.after,
    operationId,
  );
}

function finish(at: Applying, event: Extract<OperationEvent, { type: "operation_finished" }>) {
  const { operationId } = event;
  move(at, { id: operationId, to: "known_result" });
  at.statements.run(
    "UPDATE operations SET outcome = ?, summary = ?, exit_code = ? WHERE id = ?",
    event.outcome,
    event.summary,
    event.exitCode,
    operationId,
  );
  for (const [position, artifactId] of event.artifacts.entries()) {
    at.statements.run(
      "INSERT INTO operation_artifacts (operation_id, position, artifact_id) VALUES (?, ?, ?)",
      operationId,
      position,
      artifactId,
    );
  }
}

/** Settles an unknown outcome by the user's decision: it stays visible that nobody saw it. */
function settle(at: Applying, event: Extract<OperationEvent, { type: "operation_settled" }>) {
  move(at, { id: event.operationId, to: "known_result" });
  at.statements.run(
    "UPDATE operations SET outcome = 'interrupted', summary = ? WHERE id = ?",
    event.decision === "accepted"
      ? "Outcome unknown, accepted as it is by the user"
      : "Outcome unknown, done again by the user's decision",
    event.operationId,
  );
}

function move(
  at: Applying,
  { id, to }: { readonly id: OperationId; readonly to: OperationState },
): void {
  const row = at.statements.get("SELECT state FROM operations WHERE id = ?", id);
  const current = known(at, "operation", { id, row }).oneOf("state", OPERATION_STATES);
  at.statements.run(
    "UPDATE operations SET state = ?, updated_wall_ms = ? WHERE id = ?",
    moved(at, id, moveOperation(current, to)),
    at.wallMs,
    id,
  );
}
