import { err, ok, type Result } from "../../core/result.ts";
import { describeMiss } from "./_nearest_line.ts";
import type { Replacement } from "./protocol.ts";
import { toLf } from "./text_format.ts";

/** Why a replacement was not made, with what the model needs to correct it. */
export interface ReplaceFailure {
  readonly reason: "no_match" | "ambiguous_match";
  readonly detail: string;
}

/** Line numbers named for an ambiguous match; more would not help to choose. */
const MAX_LINES_NAMED = 20;

/**
 * Replaces exact text. Old and new text are literal: nothing in them is a pattern. The one
 * tolerance is that LF in the old text matches CRLF in the file, since a read shows LF; the new
 * lines then get the endings of the lines they replace. Every character outside the match stays.
 *
 * A match that occurs more than once is refused unless `all` is set; overlapping ones count.
 */
export function replaceText(
  text: string,
  replacement: Replacement,
): Result<string, ReplaceFailure> {
  const needle = toLf(replacement.oldText);
  if (needle === "") {
    return err({ reason: "no_match", detail: "The old text is empty" });
  }
  const source = new LfView(text);
  const starts = source.find(needle, replacement.all ? needle.length : 1);
  const [first] = starts;
  if (first === undefined) {
    return err({ reason: "no_match", detail: describeMiss(source.text, needle) });
  }
  if (starts.length > 1 && !replacement.all) {
    return err({ reason: "ambiguous_match", detail: describeMany(source.text, starts) });
  }
  const insert = toLf(replacement.newText);
  let result = "";
  let copied = 0;
  for (const start of starts) {
    const from = source.originalIndex(start);
    const to = source.originalIndex(start + needle.length);
    result += text.slice(copied, from) + withEndings(insert, { text, from, to });
    copied = to;
  }
  return ok(result + text.slice(copied));
}

/** A text seen with LF endings only, and the way back to the places in the original. */
class LfView {
  readonly text: string;
  /** Positions in `text` of the LFs that are CRLF in the original, ascending. */
  readonly #crlf: number[] = [];

  constructor(original: string) {
    this.text = toLf(original);
    if (this.text.length === original.length) return;
    for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) {
      this.#crlf.push(at - this.#crlf.length);
    }
  }

  /** Where `needle` starts; the search goes on `step` characters after each find. */
  find(needle: string, step: number): number[] {
    const starts: number[] = [];
    for (let at = this.text.indexOf(needle); at >= 0; at = this.text.indexOf(needle, at + step)) {
      starts.push(at);
    }
    return starts;
  }

  originalIndex(index: number): number {
    let low = 0;
    let high = this.#crlf.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#crlf[middle] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return index + low;
  }
}

/** The part of the original text that is replaced. */
interface Span {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Gives the n-th new line the ending of the n-th replaced line; further ones repeat the last of
 * those, or follow the lines around the span when it holds no ending.
 */
function withEndings(insert: string, span: Span): string {
  if (!insert.includes("\n") || !span.text.includes("\r\n")) return insert;
  const endings = span.text.slice(span.from, span.to).match(/\r?\n/g) ?? [];
  const last = endings.at(-1) ?? endingAround(span);
  const lines = insert.split("\n");
  return lines.map((line, i) => i === lines.length - 1 ? line : line + (endings[i] ?? last)).join(
    "",
  );
}

/** The ending of the line the span ends in, or of the one before when it is the file's last. */
function endingAround(span: Span): string {
  const next = span.text.indexOf("\n", span.to);
  const at = next >= 0 ? next : span.text.lastIndexOf("\n", span.from);
  return span.text.charAt(at - 1) === "\r" ? "\r\n" : "\n";
}

function describeMany(text: string, starts: readonly number[]): string {
  const lines: number[] = [];
  let line = 1;
  let counted = 0;
  for (const start of starts.slice(0, MAX_LINES_NAMED)) {
    for (let at = text.indexOf("\n", counted); at >= 0 && at < start;) {
      line++;
      counted = at + 1;
      at = text.indexOf("\n", counted);
    }
    lines.push(line);
  }
  const rest = starts.length > MAX_LINES_NAMED ? ", …" : "";
  return `${starts.length} matches, on lines ${lines.join(", ")}${rest}`;
}
