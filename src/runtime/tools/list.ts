import type { ListEntry } from "../workspace/protocol.ts";
import { inspection } from "./_inspection.ts";
import { tidyPath } from "./_paths.ts";
import { done, failed } from "./_refusals.ts";
import description from "./list.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Levels below the folder when the model does not say. */
const DEFAULT_DEPTH = 2;

/** Entries of one listing: enough for a package, small enough to read. */
const MAX_ENTRIES = 500;

/** Lists a folder. */
export const listTool = defineTool({
  name: "list",
  description,
  fields: {
    path: { type: "string", text: "Folder, the root if left out", optional: true },
    depth: {
      type: "integer",
      text: `Levels to go down, ${DEFAULT_DEPTH} if left out`,
      minimum: 1,
      maximum: 10,
      optional: true,
    },
  },
  prepare: (args, { effects }) => {
    const path = tidyPath(args.path ?? ".", effects.root);
    return inspection({ type: "inspect", tool: "list", path }, async () => {
      const listed = await effects.files.call({
        type: "list",
        path,
        depth: args.depth ?? DEFAULT_DEPTH,
        maxEntries: MAX_ENTRIES,
        candidates: await effects.git.candidates(),
      });
      if (!listed.ok) return failed(listed.error);
      const { entries, cut } = listed.value;
      const summary = `${path}: ${entries.length} entries${cut ? ", more left out" : ""}`;
      if (entries.length === 0) return done(`${path}: empty folder`, summary);
      const more = cut ? `\n(more than ${MAX_ENTRIES} entries: list a folder below)` : "";
      return done(entries.map(line).join("\n") + more, summary);
    });
  },
});

function line(entry: ListEntry): string {
  switch (entry.kind) {
    case "file":
      return `${entry.path} ${entry.sizeBytes} bytes`;
    case "directory":
      return `${entry.path}/`;
    case "link":
      return `${entry.path} (link)`;
    case "other":
      return `${entry.path} (special file)`;
  }
}
