import type { TerminalFacts } from "../composition.ts";
import { type Finding, good, note } from "./finding.ts";

/** The smallest terminal in which a diff and a question are still readable. */
const SMALLEST = { columns: 60, rows: 16 } as const;

/** Says what output will look like here, and why. */
export function judgeTerminal(facts: TerminalFacts): Finding[] {
  const { isTerminal, columns, rows, term } = facts;
  if (!isTerminal.output) {
    return [note("terminal", "standard output is no terminal: plain text, no colours")];
  }
  const name = term === null || term === "" ? "of unknown kind (TERM is not set)" : term;
  const size = columns === null || rows === null ? "size unknown" : `${columns}x${rows}`;
  return [
    good("terminal", `${name}, ${size}, ${colours(facts)}`),
    ...(isTerminal.input
      ? []
      : [note("terminal", "standard input is no terminal: nobody can be asked here")]),
    ...(columns !== null && rows !== null &&
        (columns < SMALLEST.columns || rows < SMALLEST.rows)
      ? [note(
        "terminal",
        `small: output is made for ${SMALLEST.columns}x${SMALLEST.rows} and more`,
        "Make the window larger",
      )]
      : []),
    ...locale(facts.locale),
  ];
}

function colours({ noColor, term, colorTerm }: TerminalFacts): string {
  if (noColor !== null && noColor !== "") return "no colours (NO_COLOR)";
  if (term === "dumb") return "no colours (TERM=dumb)";
  return colorTerm === "truecolor" || colorTerm === "24bit" ? "true colour" : "16 colours";
}

function locale(value: string | null): Finding[] {
  if (value !== null && /utf-?8/i.test(value)) return [];
  return [note(
    "terminal",
    `the locale ${value === null ? "is not set" : `"${value}" is not UTF-8`}: ` +
      "characters outside ASCII may come out wrong",
    "Set LANG to a UTF-8 locale, for example C.UTF-8",
  )];
}
