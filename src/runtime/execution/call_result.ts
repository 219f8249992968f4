import type { ToolCall, ToolResultMessage } from "../../core/conversation/message.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import { truncateMiddle } from "../../core/text/truncate.ts";
import type { Attempt } from "./attempt.ts";
import { resultCap } from "./perform.ts";

/**
 * Commits the result of a call with everything that led to it, and gives it to the model.
 *
 * @throws {FluzoFailure} With a storage error when the commit is not confirmed.
 */
export async function recordResult(
  attempt: Attempt,
  call: ToolCall,
  { outcome, text, events }: {
    readonly outcome: ToolResultMessage["outcome"];
    readonly text: string;
    readonly events: readonly DomainEvent[];
  },
): Promise<ToolResultMessage> {
  const { services, plan } = attempt;
  const message: ToolResultMessage = {
    role: "tool",
    callId: call.id,
    name: call.name,
    text: truncateMiddle(services.redactor.redact(text), resultCap(attempt)),
    outcome,
  };
  await attempt.journal.append([
    ...events,
    {
      type: "message_recorded",
      messageId: services.ids.next("message"),
      sessionId: plan.sessionId,
      taskId: plan.taskId,
      message,
    },
    { type: "budget_consumed", taskId: plan.taskId, consumption: attempt.consumption },
  ]);
  attempt.inFlight = null;
  attempt.conversation.add(message);
  return message;
}
