import { MAX_FILE_BYTES, readContent } from "./_content.ts";
import type { FileText, WorkspaceReplies } from "./protocol.ts";
import { refuse } from "./_refusal.ts";
import { locateForRead, type Scope } from "./resolve.ts";
import { decodeText, toLf } from "./text_format.ts";

/** Of one line that is shown; the rest is counted in a mark. Minified files have lines of megabytes. */
export const MAX_LINE_CHARACTERS = 2_000;

/** Which part of a file to read. */
export interface ReadOptions {
  readonly path: string;
  /** 1-based; smaller means the first. */
  readonly firstLine: number;
  readonly maxLines: number;
  /** Bound on the text that is returned, in UTF-8 bytes. */
  readonly maxBytes: number;
}

/**
 * Reads lines of a text file. An empty file gives `firstLine` 0 and `totalLines` 0; a start past the
 * end gives no text, with `lastLine` one less than `firstLine`. Lines are joined by LF, without one
 * after the last. A line over the cap ends in a mark that says how much was left out.
 */
export async function readText(scope: Scope, options: ReadOptions): Promise<FileText> {
  const { path } = options;
  using location = locateForRead(scope, path);
  const { bytes, version } = await readContent(location, { path, maxBytes: MAX_FILE_BYTES });
  const decoded = decodeText(bytes);
  if (!decoded.ok) refuse(decoded.error, path);
  const { text, format } = decoded.value;
  const lines = linesOf(toLf(text));
  const part = select(lines, options);
  return { path, version, totalLines: lines.length, ...format, ...part };
}

/** Reads a whole file as bytes. */
export async function readBytes(
  scope: Scope,
  options: { readonly path: string; readonly maxBytes: number },
): Promise<WorkspaceReplies["read_bytes"]> {
  using location = locateForRead(scope, options.path);
  const { bytes, version } = await readContent(location, {
    path: options.path,
    maxBytes: Math.min(options.maxBytes, MAX_FILE_BYTES),
  });
  return { bytes, version };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (text.endsWith("\n")) lines.pop();
  return lines;
}

type Part = Pick<FileText, "text" | "firstLine" | "lastLine" | "cut">;

const encoder = new TextEncoder();

function select(lines: readonly string[], options: ReadOptions): Part {
  if (lines.length === 0) return { text: "", firstLine: 0, lastLine: 0, cut: null };
  const firstLine = Math.max(1, Math.floor(options.firstLine));
  const shown: string[] = [];
  let bytes = 0;
  let cut: FileText["cut"] = null;
  for (let i = firstLine - 1; i < lines.length; i++) {
    if (shown.length >= options.maxLines) {
      cut = "lines";
      break;
    }
    const line = lines[i] ?? "";
    const short = shorten(line);
    const size = encoder.encode(short).length + 1;
    if (bytes + size - 1 > options.maxBytes) {
      cut = "bytes";
      break;
    }
    if (short !== line) cut = "line_length";
    shown.push(short);
    bytes += size;
  }
  return { text: shown.join("\n"), firstLine, lastLine: firstLine - 1 + shown.length, cut };
}

function shorten(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const head = line.slice(0, MAX_LINE_CHARACTERS).toWellFormed();
  return `${head}… [${line.length - MAX_LINE_CHARACTERS} more characters]`;
}
