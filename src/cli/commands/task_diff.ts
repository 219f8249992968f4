import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { styleDiff } from "../output/style.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { inspectTask } from "./_inspection.ts";

/** `fluzo task diff ID`: the changes as they were when the task ended. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const found = await inspectTask(input);
  if (!found.ok) return await failWith(context, found.error);
  const { taskId, task: { result } } = found.value;
  await using journal = found.value.journal;
  if (result === null || result.diff === null) {
    const text = result === null
      ? "The task has not ended, so its changes were not recorded.\n"
      : "The task changed nothing that was observed.\n";
    if (context.format === "text") await context.stderr.write(text);
    return await succeedWith(context, {
      text: "",
      json: { type: "diff", task_id: taskId, recorded: result !== null, diff: "" },
    });
  }
  const diff = await journal.query({ type: "read_artifact", artifactId: result.diff });
  if (!diff.ok) return await failWith(context, diff.error);
  return await succeedWith(context, {
    text: styleDiff(safeText(diff.value.text), context.style),
    json: { type: "diff", task_id: taskId, recorded: true, diff: diff.value.text },
  });
}
