import { timeline } from "../../core/events/timeline.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { inspectTask } from "./_inspection.ts";
import { PAGE, readPages } from "./_pages.ts";

/** `fluzo replay ID`: reads events, and nothing but events. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const found = await inspectTask(input);
  if (!found.ok) return await failWith(context, found.error);
  const { taskId, task } = found.value;
  await using journal = found.value.journal;
  const read = await readPages((cursor) =>
    journal.query({
      type: "list_events",
      taskId,
      afterSequence: Number(cursor ?? 0),
      limit: PAGE,
    }), { all: true });
  if (!read.ok) return await failWith(context, read.error);
  const { items: events } = read.value;
  const lines = timeline(events);
  const end = task.derived === null
    ? ""
    : "(the process that ran this is gone: what is not recorded here is not known)\n";
  return await succeedWith(context, {
    text: lines.map(({ sequence, wallMs, text }) =>
      `${String(sequence).padStart(6)}  ${new Date(wallMs).toISOString().slice(11, 23)}  ${
        safeText(text).replaceAll("\n", " ")
      }\n`
    ).join("") + end,
    json: { type: "replay", task_id: taskId, derived: task.derived, events },
  });
}
