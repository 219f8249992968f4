import type { DomainEvent } from "../../core/events/event.ts";
import type { AttemptId, RequestId } from "../../core/ids.ts";
import { moveRequest, REQUEST_STATES, type RequestState } from "../../core/lifecycle/request.ts";
import {
  type Applying,
  attemptOwner,
  known,
  moved,
  openAttemptOwner,
  type Owner,
} from "./_applying.ts";

type RequestEvent = Extract<
  DomainEvent,
  { type: "request_reserved" | "request_dispatched" | "request_ended" }
>;

/** Provider requests and the slots they hold. */
export function applyRequest(at: Applying, event: RequestEvent): Owner {
  switch (event.type) {
    case "request_reserved":
      return reserve(at, event);
    case "request_dispatched": {
      const attemptId = move(at, { requestId: event.requestId, to: "dispatched" });
      at.statements.run(
        "UPDATE provider_requests SET body_bytes = ? WHERE id = ?",
        event.bodyBytes,
        event.requestId,
      );
      return attemptOwner(at, attemptId);
    }
    case "request_ended": {
      const attemptId = move(at, { requestId: event.requestId, to: event.outcome });
      at.statements.run(
        `UPDATE provider_requests SET usage = ?, raw_finish = ?, error = ?, ended_wall_ms = ?
         WHERE id = ?`,
        JSON.stringify(event.usage),
        event.rawFinish,
        event.error === null ? null : JSON.stringify(event.error),
        at.wallMs,
        event.requestId,
      );
      return attemptOwner(at, attemptId);
    }
  }
}

function reserve(
  at: Applying,
  event: Extract<RequestEvent, { type: "request_reserved" }>,
): Owner {
  const owner = openAttemptOwner(at, event.attemptId);
  at.statements.run(
    `INSERT INTO provider_requests (id, attempt_id, task_id, purpose, model, origin, capacity_id,
       pool, retry, estimated_input_tokens, state, reserved_wall_ms, reserved_sequence)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?)`,
    event.requestId,
    event.attemptId,
    owner.taskId,
    event.purpose,
    event.model,
    event.origin,
    event.capacityId,
    event.pool,
    event.retry,
    event.estimatedInputTokens,
    at.wallMs,
    at.sequence,
  );
  return owner;
}

function move(
  at: Applying,
  { requestId, to }: { readonly requestId: RequestId; readonly to: RequestState },
): AttemptId {
  const row = at.statements.get(
    "SELECT state, attempt_id FROM provider_requests WHERE id = ?",
    requestId,
  );
  const request = known(at, "request", { id: requestId, row });
  const state = moved(at, requestId, moveRequest(request.oneOf("state", REQUEST_STATES), to));
  at.statements.run("UPDATE provider_requests SET state = ? WHERE id = ?", state, requestId);
  return request.id("attempt_id");
}
