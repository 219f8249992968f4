import { refuse } from "./_refusal.ts";

/** Longer patterns compile into automata that no search needs. */
const MAX_PATTERN_CHARACTERS = 1_000;

/**
 * Finds the next line at or after `from` that matches, or null. `from` is a place in `text`, whose
 * lines end in LF; the line's own bounds come back.
 */
export type LineFinder = (
  text: string,
  from: number,
) => { readonly start: number; readonly end: number; readonly match: number } | null;

/** How a pattern is meant. */
export interface PatternOptions {
  readonly pattern: string;
  readonly mode: "literal" | "regex";
  readonly caseSensitive: boolean;
}

/**
 * Compiles a pattern. Regular expressions run on an engine with linear time, since a busy worker
 * cannot be interrupted; it has no back-references and no look-around. They match within a line.
 */
export async function compileLineFinder(options: PatternOptions): Promise<LineFinder> {
  const { pattern, mode, caseSensitive } = options;
  if (pattern === "") refuse("invalid_pattern", "", "The pattern is empty");
  if (pattern.length > MAX_PATTERN_CHARACTERS) {
    refuse(
      "invalid_pattern",
      "",
      `The pattern is longer than ${MAX_PATTERN_CHARACTERS} characters`,
    );
  }
  if (mode === "regex") return await regexFinder(pattern, caseSensitive);
  if (pattern.includes("\n")) {
    refuse("invalid_pattern", "", "The pattern spans lines; a search matches within one");
  }
  if (caseSensitive) return finderOf((text, from) => text.indexOf(pattern, from));
  // A literal cannot backtrack, so the platform's engine is safe here.
  const insensitive = new RegExp(RegExp.escape(pattern), "giu");
  return finderOf((text, from) => {
    insensitive.lastIndex = from;
    return insensitive.exec(text)?.index ?? -1;
  });
}

function finderOf(indexFrom: (text: string, from: number) => number): LineFinder {
  return (text, from) => {
    const match = indexFrom(text, from);
    return match < 0 ? null : { ...lineAround(text, match), match };
  };
}

async function regexFinder(pattern: string, caseSensitive: boolean): Promise<LineFinder> {
  // Loaded at the first regular expression: 7 ms that most workers never need at their start.
  const { RE2JS } = await import("re2js");
  let compiled: ReturnType<typeof RE2JS.compile>;
  try {
    compiled = RE2JS.compile(
      pattern,
      RE2JS.MULTILINE | (caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE),
    );
  } catch (error) {
    refuse("invalid_pattern", "", error instanceof Error ? error.message : String(error));
  }
  // These look at the ends of the whole input, so the whole text says nothing about a line.
  const tiedToEnds = /\\[AzZ]/.test(pattern);
  return (text, from) => {
    const whole = tiedToEnds ? null : compiled.matcher(text);
    for (let at = from; at <= text.length;) {
      // A line that matches holds the start of a match in the whole text, at the latest there.
      if (whole !== null && !whole.find(at)) return null;
      const match = whole === null ? at : whole.start();
      const { start, end } = lineAround(text, match);
      // The text after the last newline is no line when it is empty.
      if (start === text.length && start > 0) return null;
      if (compiled.matcher(text.slice(start, end)).find()) return { start, end, match };
      at = nextLine(text, end);
    }
    return null;
  };
}

function lineAround(text: string, at: number): { readonly start: number; readonly end: number } {
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const newline = text.indexOf("\n", at);
  return { start, end: newline < 0 ? text.length : newline };
}

/** Where the line after the one that ends at `end` starts; past the text when there is none. */
export function nextLine(text: string, end: number): number {
  const newline = text.indexOf("\n", end);
  return newline < 0 ? text.length + 1 : newline + 1;
}
