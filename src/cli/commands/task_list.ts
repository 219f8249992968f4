import type { FluzoError } from "../../core/errors.ts";
import type { Page, TaskSummary } from "../../core/port/read_models.ts";
import type { Result } from "../../core/result.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection } from "./_inspection.ts";

/** Tasks of one page. */
const PAGE = 50;

/** Characters of a goal in a list. */
const GOAL_LENGTH = 60;

/** `fluzo task list`. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const tasks: TaskSummary[] = [];
  let cursor: string | null = null;
  do {
    const page: Result<Page<TaskSummary>, FluzoError> = await journal.query({
      type: "list_tasks",
      cursor,
      limit: PAGE,
    });
    if (!page.ok) return await failWith(context, page.error);
    tasks.push(...page.value.items);
    cursor = page.value.next;
  } while (cursor !== null && flags.has("all"));
  const more = cursor === null ? "" : "There are more: fluzo task list --all\n";
  return await succeedWith(context, {
    text: tasks.length === 0
      ? "There is no task in this workspace yet.\n"
      : tasks.map(line).join("") + more,
    json: { type: "tasks", tasks, more: cursor !== null },
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
