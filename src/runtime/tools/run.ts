import { prepareCommand } from "./command.ts";
import { tidyPath } from "./_paths.ts";
import { refuseText } from "./_refusals.ts";
import description from "./run.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Longest time a model may ask for, in seconds; the configured default applies otherwise. */
export const MAX_TIMEOUT_SECONDS = 3600;

/** Runs an executable with exact arguments. Never a shell. */
export const runTool = defineTool({
  name: "run",
  description,
  fields: {
    command: { type: "strings", text: "Program and arguments, one string each" },
    cwd: { type: "string", text: "Folder to run in, the root if left out", optional: true },
    timeout_seconds: {
      type: "integer",
      text: "Time limit",
      minimum: 1,
      maximum: MAX_TIMEOUT_SECONDS,
      optional: true,
    },
  },
  prepare: async (args, { effects }) => {
    if ((args.command[0] ?? "") === "") return refuseText("The command names no program");
    return await prepareCommand({
      mode: "direct",
      argv: args.command,
      cwd: tidyPath(args.cwd ?? ".", effects.root),
      timeoutMs: args.timeout_seconds === null
        ? effects.caps.shellTimeoutMs
        : args.timeout_seconds * 1000,
    }, effects);
  },
});
