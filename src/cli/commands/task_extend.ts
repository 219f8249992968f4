import type { BudgetLimits } from "../../core/budget/budget.ts";
import type { FluzoError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { goOn, openForAnswers, taskIdFrom } from "./_answering.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** The limit that each option adds to. */
const LIMITS: readonly (readonly [flag: string, limit: keyof BudgetLimits])[] = [
  ["turns", "maxTurns"],
  ["tool-calls", "maxToolCalls"],
  ["tokens", "maxTotalTokens"],
  ["seconds", "maxActiveSeconds"],
];

/** `fluzo task extend ID --turns N ...`: gives a task more; what it consumed stays consumed. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const named = taskIdFrom(input);
  if (!named.ok) return await failWith(context, named.error);
  const taskId = named.value;
  const more = readAmounts(input.flags);
  if (!more.ok) return await failWith(context, more.error);
  const opened = await openForAnswers(input);
  if (!opened.ok) return await failWith(context, opened.error);
  await using host = opened.value;
  const reply = await host.execute({
    type: "extend_task",
    commandId: randomIds(systemClock).next("command"),
    taskId,
    more: more.value,
  });
  if (!reply.ok) return await failWith(context, reply.error);
  const { maxTurns, maxToolCalls, maxTotalTokens, maxActiveSeconds } = reply.value.limits;
  return await succeedWith(context, {
    text: `Limits now: ${maxTurns} turns, ${maxToolCalls} tool calls, ${maxTotalTokens} tokens, ` +
      `${maxActiveSeconds} s\n${goOn(host, taskId)}`,
    json: { type: "extended", task_id: taskId, limits: reply.value.limits },
  });
}

function readAmounts(flags: ParsedFlags): Result<Partial<BudgetLimits>, FluzoError> {
  const more: { -readonly [K in keyof BudgetLimits]?: number } = {};
  for (const [flag, limit] of LIMITS) {
    const text = flags.text(flag);
    if (text === null) continue;
    if (!/^[1-9][0-9]{0,11}$/.test(text)) {
      return err({
        type: "usage",
        message: `Invalid value of "--${flag}": "${text}" is not a whole number above zero`,
        hint: "It is added to the limit the task has",
      });
    }
    more[limit] = Number(text);
  }
  return ok(more);
}
