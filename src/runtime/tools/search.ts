import type { SearchResult } from "../workspace/protocol.ts";
import { inspection } from "./_inspection.ts";
import { tidyPath } from "./_paths.ts";
import { done, failed } from "./_refusals.ts";
import description from "./search.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Matching lines of one search; a model that gets more should narrow it. */
const MAX_MATCHES = 200;

/** Bytes kept free in a result for the line that says what was left out. */
const FOOTER_BYTES = 512;

/** Searches file contents. */
export const searchTool = defineTool({
  name: "search",
  description,
  fields: {
    pattern: { type: "string", text: "Text to look for" },
    path: { type: "string", text: "File or folder, the root if left out", optional: true },
    glob: { type: "string", text: 'Only files like "*.ts" or "src/**/*.rs"', optional: true },
    regex: { type: "boolean", text: "Treat pattern as an RE2 expression", optional: true },
    ignore_case: { type: "boolean", text: "Match upper and lower case alike", optional: true },
  },
  prepare: (args, { effects }) => {
    const path = tidyPath(args.path ?? ".", effects.root);
    return inspection({ type: "inspect", tool: "search", path }, async () => {
      const found = await effects.files.call({
        type: "search",
        pattern: args.pattern,
        mode: args.regex === true ? "regex" : "literal",
        caseSensitive: args.ignore_case !== true,
        path,
        glob: args.glob,
        maxMatches: MAX_MATCHES,
        maxBytes: Math.max(1, effects.caps.contextBytes - FOOTER_BYTES),
        candidates: await effects.git.candidates(),
      });
      if (!found.ok) return failed(found.error);
      return done(
        format(found.value),
        `${JSON.stringify(args.pattern)}: ${summarise(found.value)}`,
      );
    });
  },
});

function format(result: SearchResult): string {
  const lines = result.matches.map(({ path, line, text }) => `${path}:${line}: ${text}`);
  lines.push(`(${summarise(result)})`);
  return lines.join("\n");
}

function summarise(result: SearchResult): string {
  const skipped = Object.entries(result.skipped).filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reason}`);
  const facts = [
    `${plural(result.matches.length, "match", "es")} in ${plural(result.filesSearched, "file")}`,
  ];
  if (skipped.length > 0) facts.push(`skipped: ${skipped.join(", ")}`);
  if (result.cut !== null) facts.push(`stopped at the limit of ${result.cut}, narrow the search`);
  return facts.join("; ");
}

function plural(count: number, noun: string, ending = "s"): string {
  return `${count} ${noun}${count === 1 ? "" : ending}`;
}
