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
  { difference: "tabs and spaces", apply: (line) => line.replace(/(\S)\s+(?=\S)/g, "$1 ") },
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
/** Lines of the old text that are looked for before settling for one that is only similar. */
const MAX_ANCHORS = 5;
/** Share of the old line that must agree at its ends before another line counts as near. */
const MIN_AGREEMENT = 0.5;

/** Describes the nearest line to the old text. Both use LF endings. */
export function describeMiss(text: string, oldText: string): string {
  if (text === "") return "The file is empty";
  if (text.length > MAX_TEXT_CHARACTERS) return "The old text does not occur in the file";
  const fileLines = text.split("\n");
  const oldLines = oldText.split("\n");
  const start = nearestStart(oldLines, fileLines);
  if (start === null) return "The old text does not occur in the file, and no line is close to it";
  const end = fileLines.length - (text.endsWith("\n") ? 1 : 0);
  for (const [i, old] of oldLines.entries()) {
    const number = start + i;
    const line = fileLines[number];
    if (line === undefined || (number >= end && old !== "")) {
      const near = Math.min(Math.max(number, 0), end - 1) + 1;
      return `Nearest is line ${near}, but the old text goes past the ${edge(number)} of the file`;
    }
    const place = { first: i === 0, last: i === oldLines.length - 1 };
    if (agrees(line, old, place)) continue;
    const what = difference(line, old, place);
    return `Nearest is line ${number + 1}: ${what}; the file has ${quote(line)}`;
  }
  return `Nearest is line ${start + 1}, where the text is alike but not the same`;
}

/** Where a line stands in the old text. */
interface Place {
  readonly first: boolean;
  readonly last: boolean;
}

/** The first and last line of an old text may be parts of a line. */
function agrees(line: string, old: string, place: Place): boolean {
  if (place.first && place.last) return line.includes(old);
  if (place.first) return line.endsWith(old);
  return place.last ? line.startsWith(old) : line === old;
}

function edge(number: number): string {
  return number < 0 ? "start" : "end";
}

function foldAll(line: string): string {
  return FOLDS.reduce((folded, fold) => fold.apply(folded), line);
}

/**
 * Index of the file line at which the old text nearly stands, or null; negative when it would begin
 * before the file. Its longest lines tell most, so they are looked for first.
 */
function nearestStart(oldLines: readonly string[], fileLines: readonly string[]): number | null {
  const anchors = oldLines
    .map((line, index) => ({ target: foldAll(line), index }))
    .filter(({ target }) => target !== "")
    .sort((a, b) => b.target.length - a.target.length)
    .slice(0, MAX_ANCHORS);
  const folded = fileLines.map(foldAll);
  for (const { target, index } of anchors) {
    const at = folded.findIndex((line) => line.includes(target));
    if (at >= 0) return at - index;
  }
  let best: number | null = null;
  let bestScore = MIN_AGREEMENT;
  const [first] = anchors;
  if (first === undefined) return null;
  for (const [at, line] of folded.entries()) {
    const score = agreement(line, first.target);
    if (score <= bestScore) continue;
    best = at - first.index;
    bestScore = score;
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
function difference(line: string, old: string, place: Place): string {
  const agreeAfter = (folds: readonly Fold[]) => {
    const apply = (text: string) => folds.reduce((folded, fold) => fold.apply(folded), text);
    return agrees(apply(line), apply(old), place);
  };
  if (!agreeAfter(FOLDS)) return `differs from column ${commonStart(line, old) + 1}`;
  const single = FOLDS.find((fold) => agreeAfter([fold]));
  if (single !== undefined) return `differs in ${single.difference}`;
  const needed = FOLDS.filter((left) => !agreeAfter(FOLDS.filter((fold) => fold !== left)));
  if (needed.length === 0) return "differs in white space";
  return `differs in ${needed.map((fold) => fold.difference).join(" and ")}`;
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function quote(line: string): string {
  const cut = line.length > MAX_QUOTED_CHARACTERS;
  return JSON.stringify(cut ? line.slice(0, MAX_QUOTED_CHARACTERS) + "…" : line);
}
