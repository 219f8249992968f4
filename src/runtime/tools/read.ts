import type { FileText } from "../workspace/protocol.ts";
import { inspection } from "./_inspection.ts";
import { tidyPath } from "./_paths.ts";
import { done, failed } from "./_refusals.ts";
import description from "./read.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Lines of one read when the model does not say: a screenful of context, not a whole large file. */
const DEFAULT_LINES = 800;

/** Lines one read may ask for; the cap on bytes is what usually ends a read. */
const MAX_LINES = 5000;

/** Bytes kept free in a result for the line that says what was read. */
const HEADER_BYTES = 512;

/** Reads a part of a text file, and notes the version the model has now seen. */
export const readTool = defineTool({
  name: "read",
  description,
  fields: {
    path: { type: "string", text: "File, relative to the workspace root" },
    first_line: {
      type: "integer",
      text: "First line, from 1",
      minimum: 1,
      maximum: 100_000_000,
      optional: true,
    },
    lines: {
      type: "integer",
      text: `How many lines, ${DEFAULT_LINES} if left out`,
      minimum: 1,
      maximum: MAX_LINES,
      optional: true,
    },
  },
  prepare: (args, { effects }) => {
    const path = tidyPath(args.path, effects.root);
    return inspection({ type: "inspect", tool: "read", path }, async () => {
      const read = await effects.files.call({
        type: "read",
        path,
        firstLine: args.first_line ?? 1,
        maxLines: args.lines ?? DEFAULT_LINES,
        maxBytes: Math.max(1, effects.caps.contextBytes - HEADER_BYTES),
      });
      if (!read.ok) return failed(read.error);
      effects.versions.note(path, read.value.version.digest);
      const header = describe(read.value);
      return done(`${header}\n${read.value.text}`, header);
    });
  },
});

function describe(file: FileText): string {
  if (file.version.sizeBytes === 0) return `${file.path}: empty file`;
  const total = file.totalLines === null ? "" : ` of ${file.totalLines}`;
  const facts = [`lines ${file.firstLine}-${file.lastLine}${total}`];
  if (file.endings === "crlf" || file.endings === "mixed") facts.push(`${file.endings} endings`);
  if (file.cut === "line_length") facts.push("long lines cut");
  if (file.cut === "bytes" || file.cut === "lines") {
    facts.push(`more follows: first_line ${file.lastLine + 1}`);
  }
  return `${file.path} (${facts.join(", ")})`;
}
