import type { TaskSummary } from "../../core/port/read_models.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection } from "./_inspection.ts";
import { PAGE, readPages } from "./_pages.ts";

/** Characters of a goal in a list. */
const GOAL_LENGTH = 60;

/** `fluzo task list`. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const read = await readPages(
    (cursor) => journal.query({ type: "list_tasks", cursor, limit: PAGE }),
    { all: flags.has("all") },
  );
  if (!read.ok) return await failWith(context, read.error);
  const { items: tasks, more } = read.value;
  const others = more ? "There are more: fluzo task list --all\n" : "";
  return await succeedWith(context, {
    text: tasks.length === 0
      ? "There is no task in this workspace yet.\n"
      : tasks.map(line).join("") + others,
    json: { type: "tasks", tasks, more },
  });
}

function line(task: TaskSummary): string {
  const state = task.derived ??
    (task.reason === null ? task.state : `${task.state}: ${task.reason}`);
  const when = new Date(task.createdWallMs).toISOString().slice(0, 16).replace("T", " ");
  const goal = safeText(task.goal).replace(/\s+/g, " ").trim();
  const short = goal.length > GOAL_LENGTH ? `${goal.slice(0, GOAL_LENGTH - 1)}…` : goal;
  return `${task.id}  ${when}  ${state.padEnd(12)}  ${short}\n`;
}
