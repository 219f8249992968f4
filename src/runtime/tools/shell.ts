import { prepareCommand } from "./command.ts";
import { SHELL } from "../../core/policy/grant_request.ts";
import { tidyPath } from "./_paths.ts";
import { refuseText } from "./_refusals.ts";
import { MAX_TIMEOUT_SECONDS } from "./run.ts";
import description from "./shell.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Runs a script by an explicit shell. The whole script is the scope. */
export const shellTool = defineTool({
  name: "shell",
  description,
  fields: {
    script: { type: "string", text: "The script" },
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
    if (args.script.trim() === "") return refuseText("The script is empty");
    return await prepareCommand({
      mode: "shell",
      argv: [SHELL, "-c", args.script],
      cwd: tidyPath(args.cwd ?? ".", effects.root),
      timeoutMs: args.timeout_seconds === null
        ? effects.caps.shellTimeoutMs
        : args.timeout_seconds * 1000,
    }, effects);
  },
});
