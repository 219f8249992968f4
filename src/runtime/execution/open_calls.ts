import type { ToolCall, ToolResultMessage } from "../../core/conversation/message.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { OperationDetail } from "../../core/port/read_models.ts";

/** A call without a result, with the newest operation it led to. */
export interface OpenCall {
  readonly call: ToolCall;
  readonly operation: OperationDetail | null;
}

/** Pairs calls with the newest operation of each. */
export function pairWithOperations(
  calls: readonly ToolCall[],
  operations: readonly OperationDetail[],
): readonly OpenCall[] {
  return calls.map((call) => ({
    call,
    operation: operations.findLast(({ callId }) => callId === call.id) ?? null,
  }));
}

/**
 * The result of a call that nobody will answer any more. What may have had effects says so; what
 * certainly had none says that.
 */
export function resultOfOpenCall({ call, operation }: OpenCall): ToolResultMessage {
  const answer = (text: string, outcome: ToolResultMessage["outcome"]): ToolResultMessage => ({
    role: "tool",
    callId: call.id,
    name: call.name,
    text,
    outcome,
  });
  const state = operation === null ? null : operation.derived ?? operation.state;
  switch (state) {
    case null:
    case "requested":
    case "authorized":
    case "invalidated":
    case "cancelled":
      return answer(
        "Not run: the task ended before this call was performed. No effects.",
        "denied",
      );
    case "denied":
      return answer("Denied. Do not try it in another form.", "denied");
    case "intent_committed":
    case "dispatched":
    case "unknown":
      return answer(
        "Interrupted: it is not known whether this had effects. Look before you go on.",
        "interrupted",
      );
    case "known_result":
      return answer(
        `The result was lost; this is known of it: ${operation?.summary ?? ""}`,
        operation?.outcome === "ok" ? "ok" : "interrupted",
      );
  }
}

/** Requests that wait for an answer and will be asked again or not at all. */
export function invalidatePending(open: readonly OpenCall[]): readonly DomainEvent[] {
  return open.flatMap(({ operation }) =>
    operation?.state === "requested"
      ? [
        {
          type: "operation_cancelled",
          operationId: operation.id,
          reason: "invalidated",
        } as const,
      ]
      : []
  );
}
