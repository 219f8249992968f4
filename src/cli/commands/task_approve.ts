import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import { approvalKey } from "../../core/policy/scope.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { findQuestion, goOn, questionText } from "./_answering.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo task approve ID`: allows one waiting operation, once. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const question = await findQuestion(input);
  if (!question.ok) return await failWith(context, question.error);
  const { operation, taskId } = question.value;
  await using host = question.value.host;
  const reply = await host.execute({
    type: "approve_operation",
    commandId: randomIds(systemClock).next("command"),
    operationId: operation.id,
    seen: approvalKey(operation.scope),
  });
  if (!reply.ok) return await failWith(context, reply.error);
  return await succeedWith(context, {
    text: `Allowed once, for exactly this:\n${questionText(operation)}` +
      goOn(host, taskId),
    json: {
      type: "approved",
      task_id: taskId,
      operation_id: operation.id,
      grant_id: reply.value.grantId,
      scope: operation.scope,
    },
  });
}
