import { SHELL } from "../../core/policy/grant_request.ts";
import { COMMAND_FIELDS, commandPlace, prepareCommand } from "./command.ts";
import { refuseText } from "./_refusals.ts";
import description from "./shell.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Runs a script by an explicit shell. The whole script is the scope. */
export const shellTool = defineTool({
  name: "shell",
  description,
  fields: {
    script: { type: "string", text: "The script" },
    ...COMMAND_FIELDS,
  },
  prepare: async (args, { effects, operationId }) => {
    if (args.script.trim() === "") return refuseText("The script is empty");
    const argv = [SHELL, "-c", args.script];
    return await prepareCommand(
      { operationId, mode: "shell", argv, ...commandPlace(args, effects) },
      effects,
    );
  },
});
