import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { openForAnswers, taskIdFrom } from "./_answering.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo task say ID TEXT`: a message to a task at work, which reads it before its next step. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const taskId = taskIdFrom(input);
  if (!taskId.ok) return await failWith(context, taskId.error);
  const opened = await openForAnswers(input);
  if (!opened.ok) return await failWith(context, opened.error);
  await using host = opened.value;
  const reply = await host.execute({
    type: "queue_message",
    commandId: randomIds(systemClock).next("command"),
    taskId: taskId.value,
    text: input.positionals[1] ?? "",
  });
  if (!reply.ok) return await failWith(context, reply.error);
  return await succeedWith(context, {
    text: `Queued for ${taskId.value}: it reads it before its next step\n`,
    json: { type: "queued", task_id: taskId.value, message_id: reply.value.interventionId },
  });
}
