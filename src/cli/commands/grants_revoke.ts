import { parseId } from "../../core/ids.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { openForAnswers } from "./_answering.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo grants revoke ID`: takes a grant back. What it allowed before stays done. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const text = input.positionals[0] ?? "";
  const grantId = parseId("grant", text);
  if (grantId === null) {
    return await failWith(context, { type: "not_found", what: "grant", id: text });
  }
  const opened = await openForAnswers(input);
  if (!opened.ok) return await failWith(context, opened.error);
  await using host = opened.value;
  const reply = await host.execute({
    type: "revoke_grant",
    commandId: randomIds(systemClock).next("command"),
    grantId,
  });
  if (!reply.ok) return await failWith(context, reply.error);
  return await succeedWith(context, {
    text: `Revoked ${grantId}\n`,
    json: { type: "revoked", grant_id: grantId, task_id: reply.value.taskId },
  });
}
