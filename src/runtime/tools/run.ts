import { COMMAND_FIELDS, commandPlace, prepareCommand } from "./command.ts";
import { refuseText } from "./_refusals.ts";
import description from "./run.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Runs an executable with exact arguments. Never a shell. */
export const runTool = defineTool({
  name: "run",
  description,
  fields: {
    command: { type: "strings", text: "Program and arguments, one string each" },
    ...COMMAND_FIELDS,
  },
  prepare: async (args, { effects, operationId }) => {
    if ((args.command[0] ?? "") === "") return refuseText("The command names no program");
    const place = commandPlace(args, effects);
    return await prepareCommand(
      { operationId, mode: "direct", argv: args.command, ...place },
      effects,
    );
  },
});
