import { isBidiControl, isControl, isInvisible, isJoiner, isSurrogate } from "./code_points.ts";

const SHORT: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/**
 * A text on one line with everything shown that would otherwise act, hide or turn around: for the
 * exact scope of an approval, for paths and for names. Different texts stay different: a backslash
 * that would read as an escape is doubled.
 */
export function visible(text: string): string {
  let shown = "";
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (character === "\\") shown += "\\\\";
    else if (!needsEscape(codePoint)) shown += character;
    else shown += SHORT.get(character) ?? escape(codePoint);
  }
  return shown;
}

/** Whether a code point cannot be trusted to show itself. */
export function needsEscape(codePoint: number): boolean {
  return isControl(codePoint) || isBidiControl(codePoint) || isInvisible(codePoint) ||
    isJoiner(codePoint) || isSurrogate(codePoint);
}

function escape(codePoint: number): string {
  const digits = codePoint.toString(16);
  return codePoint < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u{${digits}}`;
}
