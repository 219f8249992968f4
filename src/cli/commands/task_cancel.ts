import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { openForAnswers, taskIdFrom } from "./_answering.ts";
import { failWith } from "./_finish.ts";
import { reportStop } from "./_stopping.ts";

/** `fluzo task cancel ID`: ends a task, wherever it runs. Repeating it is harmless. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const taskId = taskIdFrom(input);
  if (!taskId.ok) return await failWith(context, taskId.error);
  const opened = await openForAnswers(input);
  if (!opened.ok) return await failWith(context, opened.error);
  await using host = opened.value;
  const reply = await host.execute({
    type: "cancel_task",
    commandId: randomIds(systemClock).next("command"),
    taskId: taskId.value,
    by: "user",
  });
  return reply.ok ? await reportStop(context, reply.value) : await failWith(context, reply.error);
}
