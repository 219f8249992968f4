/** What a piece of output means; the colour follows from it, and never stands alone. */
export type Meaning = "plain" | "strong" | "quiet" | "good" | "bad" | "added" | "removed";

/** Turns meanings into text for one stream: colours on a terminal, nothing elsewhere. */
export type Style = (meaning: Meaning, text: string) => string;

const CODES: Readonly<Record<Meaning, string>> = {
  plain: "",
  strong: "1",
  quiet: "2",
  good: "32",
  bad: "31",
  added: "32",
  removed: "31",
};

/** The style for a stream. The one colour gate: `--no-color`, `NO_COLOR`, `TERM=dumb`, no terminal. */
export function chooseStyle(facts: {
  readonly terminal: boolean;
  readonly noColorFlag: boolean;
  readonly noColorVariable: string | undefined;
  readonly term: string | undefined;
}): Style {
  const plain = !facts.terminal || facts.noColorFlag || facts.term === "dumb" ||
    (facts.noColorVariable !== undefined && facts.noColorVariable !== "");
  if (plain) return (_meaning, text) => text;
  return (meaning, text) => {
    const code = CODES[meaning];
    return code === "" || text === "" ? text : `\x1b[${code}m${text}\x1b[0m`;
  };
}

/** A unified diff with its lines coloured by meaning. */
export function styleDiff(diff: string, style: Style): string {
  return diff.split("\n").map((line) => {
    if (line.startsWith("+++") || line.startsWith("---")) return style("strong", line);
    if (line.startsWith("+")) return style("added", line);
    if (line.startsWith("-")) return style("removed", line);
    return line.startsWith("@@") ? style("quiet", line) : line;
  }).join("\n");
}
