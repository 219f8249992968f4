/**
 * Says why exact text was not found: which line comes nearest and what differs there. It only
 * describes; nothing that is folded here is ever used to match.
 */

/** One way in which two lines may be alike without being equal. */
interface Fold {
  readonly difference: string;
  readonly apply: (line: string) => string;
}

const FOLDS: readonly Fold[] = [
  { difference: "carriage returns", apply: (line) => line.replaceAll("\r", "") },
  { difference: "spaces at the end of the line", apply: (line) => line.trimEnd() },
  {
    difference: "indentation",
    apply: (line) => line.trimStart(),
  },
  { difference: "tabs and spaces", apply: (line) => line.replace(/[\s\u00A0]+/g, " ") },
  {
    difference: "quotes",
    apply: (line) => line.replace(/[\u2018\u2019\u201A\u201C\u201D\u201E`"]/g, "'"),
  },
  { difference: "dashes", apply: (line) => line.replace(/[\u2010-\u2015\u2212]/g, "-") },
  { difference: "upper and lower case", apply: (line) => line.toLowerCase() },
  { difference: "Unicode normalisation", apply: (line) => line.normalize("NFC") },
];

/** Above this the search for the nearest line would take longer than it helps. */
const MAX_TEXT_CHARACTERS = 2_000_000;
/** Of a line that is quoted in the answer. */
const MAX_QUOTED_CHARACTERS = 160;
/** Share of the old line that must agree at its ends before another line counts as near. */
const MIN_AGREEMENT = 0.5;

/** Describes the nearest line to the old text. Both use LF endings. */
export function describeMiss(text: string, oldText: string): string {
  if (text === "") return "The file is empty";
  if (text.length > MAX_TEXT_CHARACTERS) return "The old text does not occur in the file";
  const fileLines = text.split("\n");
  const oldLines = oldText.split("\n");
  const anchor = longest(oldLines);
  const at = nearestTo(oldLines[anchor] ?? "", fileLines);
  if (at === null) return "The old text does not occur in the file, and no line is close to it";
  for (let i = 0; i < oldLines.length; i++) {
    const number = at - anchor + i;
    const line = fileLines[number];
    const old = oldLines[i] ?? "";
    if (line === undefined) {
      return `Nearest is line ${at + 1}, but the old text goes past the ${
        edge(number)
      } of the file`;
    }
    const first = i === 0;
    const last = i === oldLines.length - 1;
    if (agrees(line, old, { first, last })) continue;
    return `Nearest is line ${number + 1}: ${difference(line, old)}; the file has ${quote(line)}`;
  }
  return `Nearest is line ${at + 1}, where the text is alike but not the same`;
}

/** The first and last line of an old text may be parts of a line. */
function agrees(
  line: string,
  old: string,
  place: { readonly first: boolean; readonly last: boolean },
): boolean {
  if (place.first && place.last) return line.includes(old);
  if (place.first) return line.endsWith(old);
  return place.last ? line.startsWith(old) : line === old;
}

function edge(number: number): string {
  return number < 0 ? "start" : "end";
}

function longest(lines: readonly string[]): number {
  let best = 0;
  lines.forEach((line, i) => {
    if (line.trim().length > (lines[best] ?? "").trim().length) best = i;
  });
  return best;
}

function foldAll(line: string): string {
  return FOLDS.reduce((folded, fold) => fold.apply(folded), line);
}

/** Index of the file line that comes nearest to `old`, or null. */
function nearestTo(old: string, lines: readonly string[]): number | null {
  const target = foldAll(old);
  if (target === "") return null;
  let best: number | null = null;
  let bestScore = MIN_AGREEMENT;
  for (let i = 0; i < lines.length; i++) {
    const folded = foldAll(lines[i] ?? "");
    if (folded.includes(target)) return i;
    const score = agreement(folded, target);
    if (score > bestScore) {
      best = i;
      bestScore = score;
    }
  }
  return best;
}

/** Share of characters that two lines have in common at their ends. */
function agreement(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return (head + tail) / Math.max(a.length, b.length);
}

/** Names the folds that are needed to make the lines agree, or where they part. */
function difference(line: string, old: string): string {
  if (!foldAll(line).includes(foldAll(old))) {
    let column = 0;
    while (column < line.length && line[column] === old[column]) column++;
    return `differs from column ${column + 1}`;
  }
  for (const fold of FOLDS) {
    if (fold.apply(line).includes(fold.apply(old))) return `differs in ${fold.difference}`;
  }
  const needed = FOLDS.filter((left) => {
    const others = FOLDS.filter((fold) => fold !== left);
    const apply = (text: string) => others.reduce((folded, fold) => fold.apply(folded), text);
    return !apply(line).includes(apply(old));
  });
  if (needed.length === 0) return "differs in white space";
  return `differs in ${needed.map((fold) => fold.difference).join(" and ")}`;
}

function quote(line: string): string {
  const cut = line.length > MAX_QUOTED_CHARACTERS;
  return JSON.stringify(cut ? line.slice(0, MAX_QUOTED_CHARACTERS) + "…" : line);
}
