import { prepareChange, unread } from "./_file_change.ts";
import { tidyPath } from "./_paths.ts";
import { refuseText } from "./_refusals.ts";
import description from "./rename.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Moves a file whose content the model has seen. */
export const renameTool = defineTool({
  name: "rename",
  description,
  fields: {
    path: { type: "string", text: "File, relative to the workspace root" },
    to: { type: "string", text: "New path" },
  },
  prepare: async (args, context) => {
    const path = tidyPath(args.path, context.effects.root);
    const expected = context.effects.versions.seen(path);
    if (expected === null) return refuseText(unread(path));
    return await prepareChange({
      type: "rename",
      path,
      to: tidyPath(args.to, context.effects.root),
      expected,
    }, context);
  },
});
