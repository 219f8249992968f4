import { prepareChange } from "./_file_change.ts";
import { tidyPath } from "./_paths.ts";
import description from "./write.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/**
 * Creates a file or replaces its content. A file the model has not read is treated as absent, so
 * one that exists is refused instead of overwritten.
 */
export const writeTool = defineTool({
  name: "write",
  description,
  fields: {
    path: { type: "string", text: "File, relative to the workspace root" },
    content: { type: "string", text: "The whole content" },
  },
  prepare: async (args, context) => {
    const path = tidyPath(args.path, context.effects.root);
    const expected = context.effects.versions.seen(path);
    const content = args.content;
    return await prepareChange(
      expected === null
        ? { type: "create", path, content }
        : { type: "rewrite", path, expected, content },
      context,
    );
  },
});
