import { prepareChange, unread } from "./_file_change.ts";
import { tidyPath } from "./_paths.ts";
import { refuseText } from "./_refusals.ts";
import description from "./remove.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Deletes a file whose content the model has seen. */
export const removeTool = defineTool({
  name: "remove",
  description,
  fields: { path: { type: "string", text: "File, relative to the workspace root" } },
  prepare: async (args, context) => {
    const path = tidyPath(args.path, context.effects.root);
    const expected = context.effects.versions.seen(path);
    if (expected === null) return refuseText(unread(path));
    return await prepareChange({ type: "delete", path, expected }, context);
  },
});
