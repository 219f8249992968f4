import { describeCommands, type TaskFacts } from "./initial_context.ts";

/** What the model is told when a task goes on. */
export function resumeMessage(
  facts: Pick<TaskFacts, "grants" | "yolo" | "onAsk"> & {
    readonly differences: readonly string[];
    /** The last attempt ended without being able to say how. */
    readonly interrupted: boolean;
  },
): string {
  const lines = [
    facts.interrupted
      ? "Fluzo was interrupted and goes on with the same task now."
      : "The user looked at the task; it goes on now.",
    "Earlier permissions no longer hold. Read a file again before you change it.",
    "<workspace>",
    ...(facts.differences.length === 0
      ? ["Nothing changed since then."]
      : ["Changed since then:", ...facts.differences.map((line) => `  ${line}`)]),
    describeCommands(facts),
    "</workspace>",
  ];
  return lines.join("\n");
}
