import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import { approvalKey } from "../../core/policy/scope.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { findQuestion, goOn, questionText } from "./_answering.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo task deny ID`: refuses one waiting operation; the model reads the reason. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const question = await findQuestion(input);
  if (!question.ok) return await failWith(context, question.error);
  const { operation, taskId } = question.value;
  await using host = question.value.host;
  const reply = await host.execute({
    type: "deny_operation",
    commandId: randomIds(systemClock).next("command"),
    operationId: operation.id,
    seen: approvalKey(operation.scope),
    reason: input.flags.text("reason") ?? "",
  });
  if (!reply.ok) return await failWith(context, reply.error);
  return await succeedWith(context, {
    text: `Denied:\n${questionText(operation)}${goOn(host, taskId)}`,
    json: { type: "denied", task_id: taskId, operation_id: operation.id, scope: operation.scope },
  });
}
