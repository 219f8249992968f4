import { structuredPatch } from "diff/lib/patch/create.js";

/** What a model and a screen can use; the pre-image artifact holds everything. */
export const MAX_DIFF_BYTES = 65_536;
/** Lines around a change. */
const CONTEXT_LINES = 3;
/** Added plus removed lines after which the comparison gives up: its cost grows with the square. */
const MAX_EDIT_LENGTH = 4_000;
/** Bound on one comparison, as the worker cannot be interrupted. */
const TIMEOUT_MS = 500;

const encoder = new TextEncoder();

/** One side of a comparison. */
export interface DiffSide {
  /** Null where the file is absent. */
  readonly path: string | null;
  /** Decoded text with its own line endings. */
  readonly text: string;
}

/**
 * A unified diff, at most `MAX_DIFF_BYTES`, ended by a line that says so when it was cut. Line
 * endings are compared too: a line that changes from LF to CRLF is shown as changed.
 */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  const oldPath = before.path === null ? "/dev/null" : `a/${before.path}`;
  const newPath = after.path === null ? "/dev/null" : `b/${after.path}`;
  const header = `--- ${oldPath}\n+++ ${newPath}\n`;
  const patch = structuredPatch(oldPath, newPath, before.text, after.text, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDIT_LENGTH,
    timeout: TIMEOUT_MS,
  });
  if (patch === undefined) {
    return `${header}\\ Too many changes to compare: ${lineCount(before.text)} lines become ${
      lineCount(after.text)
    }\n`;
  }
  const lines: string[] = [];
  for (const hunk of patch.hunks) {
    lines.push(`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`);
    lines.push(...hunk.lines);
  }
  return bounded(header, lines);
}

function bounded(header: string, lines: readonly string[]): string {
  let result = header;
  let bytes = encoder.encode(header).length;
  for (const [i, line] of lines.entries()) {
    const size = encoder.encode(line).length + 1;
    const mark = `\\ ${lines.length - i} more lines of the diff are left out\n`;
    if (bytes + size + mark.length > MAX_DIFF_BYTES) return result + mark;
    result += `${line}\n`;
    bytes += size;
  }
  return result;
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
