import type { DomainEvent } from "../../core/events/event.ts";
import type { OperationId } from "../../core/ids.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import type { Answer } from "./approval_desk.ts";
import type { Attempt } from "./attempt.ts";

/**
 * Asks the user for one operation and waits. The question is durable before anybody can answer it,
 * and the task is at work again, in the journal as well, when this returns.
 *
 * @throws {FluzoFailure} With a storage error when a commit is not confirmed.
 */
export async function askUser(
  attempt: Attempt,
  { operationId, scope, requested }: {
    readonly operationId: OperationId;
    readonly scope: OperationScope;
    readonly requested: DomainEvent;
  },
): Promise<Answer> {
  const { taskId } = attempt.plan;
  // Before the commit: who reads the question in the journal finds somebody waiting for the answer.
  const waiting = attempt.approvals.wait(operationId, scope, attempt.cancel.signal);
  await attempt.journal.append([
    requested,
    {
      type: "task_moved",
      taskId,
      from: "running",
      to: "waiting",
      reason: "permission_required",
    },
  ]);
  attempt.taskState = "waiting";
  const answer = await attempt.pauseFor(waiting);
  if (answer.type === "cancelled") {
    await attempt.journal.append([
      { type: "operation_cancelled", operationId, reason: "cancelled" },
    ]);
    return answer;
  }
  await attempt.journal.append([
    { type: "task_moved", taskId, from: "waiting", to: "running", reason: null },
  ]);
  attempt.taskState = "running";
  return answer;
}
