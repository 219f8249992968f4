import type { FluzoError } from "../../core/errors.ts";
import type { TaskId } from "../../core/ids.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import type { OperationDetail } from "../../core/port/read_models.ts";
import { ok, type Result } from "../../core/result.ts";
import type { Steering } from "../../runtime/control/steering.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { openForAnswers, taskIdFrom } from "./_answering.ts";
import { failWith } from "./_finish.ts";
import { readOperations } from "./_pages.ts";
import { reportStop } from "./_stopping.ts";

/** `fluzo task kill ID --yes`: ends a task and kills what it runs. Nothing is rolled back. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const named = taskIdFrom(input);
  if (!named.ok) return await failWith(context, named.error);
  const taskId = named.value;
  const opened = await openForAnswers(input);
  if (!opened.ok) return await failWith(context, opened.error);
  await using host = opened.value;
  if (!input.flags.has("yes")) {
    const running = await underWay(host, taskId);
    if (!running.ok) return await failWith(context, running.error);
    const what = running.value.map(({ scope, pid }) =>
      `${describeScope(scope)}${pid === null ? "" : ` (process ${pid})`}`
    ).join("; ");
    return await failWith(context, {
      type: "confirmation_required",
      action: `kill ${taskId}, which ${what === "" ? "runs no command now" : `runs ${what}`}`,
      flag: "--yes",
    });
  }
  const reply = await host.execute({
    type: "kill_task",
    commandId: randomIds(systemClock).next("command"),
    taskId,
    by: "user",
  });
  return reply.ok ? await reportStop(context, reply.value) : await failWith(context, reply.error);
}

/** The commands of a task that have begun and not ended. */
async function underWay(
  host: Steering,
  taskId: TaskId,
): Promise<Result<readonly OperationDetail[], FluzoError>> {
  const task = await host.query({ type: "show_task", taskId });
  if (!task.ok) return task;
  const read = await readOperations(host, taskId);
  if (!read.ok) return read;
  return ok(
    read.value.filter(({ state, scope }) => state === "dispatched" && scope.type === "command"),
  );
}
