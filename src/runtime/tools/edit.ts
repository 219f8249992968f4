import { prepareChange, unread } from "./_file_change.ts";
import { tidyPath } from "./_paths.ts";
import { refuseText } from "./_refusals.ts";
import description from "./edit.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Replaces text in a file, based on the version the model read. */
export const editTool = defineTool({
  name: "edit",
  description,
  fields: {
    path: { type: "string", text: "File, relative to the workspace root" },
    old_text: { type: "string", text: "Exact text to replace" },
    new_text: { type: "string", text: "Text to put there" },
    all: { type: "boolean", text: "Replace every occurrence", optional: true },
  },
  prepare: async (args, context) => {
    const path = tidyPath(args.path, context.effects.root);
    const expected = context.effects.versions.seen(path);
    if (expected === null) return refuseText(unread(path));
    const replacement = {
      oldText: args.old_text,
      newText: args.new_text,
      all: args.all === true,
    };
    return await prepareChange(
      { type: "edit", path, expected, replacements: [replacement] },
      context,
    );
  },
});
