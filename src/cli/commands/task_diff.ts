import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { styleDiff } from "../output/style.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection, readTaskId } from "./_inspection.ts";

/** `fluzo task diff ID`: the changes as they were when the task ended. */
export async function run({ positionals, flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const taskId = readTaskId(positionals[0] ?? "");
  if (!taskId.ok) return await failWith(context, taskId.error);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const task = await journal.query({ type: "show_task", taskId: taskId.value });
  if (!task.ok) return await failWith(context, task.error);
  const { result } = task.value;
  if (result === null || result.diff === null) {
    const text = result === null
      ? "The task has not ended, so its changes were not recorded.\n"
      : "The task changed nothing that was observed.\n";
    if (context.format === "text") await context.stderr.write(text);
    return await succeedWith(context, {
      text: "",
      json: { type: "diff", task_id: taskId.value, recorded: result !== null, diff: "" },
    });
  }
  const diff = await journal.query({ type: "read_artifact", artifactId: result.diff });
  if (!diff.ok) return await failWith(context, diff.error);
  return await succeedWith(context, {
    text: styleDiff(safeText(diff.value.text), context.style),
    json: { type: "diff", task_id: taskId.value, recorded: true, diff: diff.value.text },
  });
}
