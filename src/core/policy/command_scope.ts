import { err, ok, type Result } from "../result.ts";
import { needsEscape } from "../text/visible.ts";

/** Characters that a shell would act on outside quotes: a grant for an argument vector has none. */
const OPERATORS = new Set("|&;<>()`$\n*?[]{}~!#");

/** A word made of these needs no quotes to be read back. */
const PLAIN_REGEXP = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** A leading word of this form would be an assignment in a shell. */
const ASSIGNMENT_REGEXP = /^[A-Za-z_][A-Za-z0-9_]*=/;

/**
 * Parses a command line into its argument vector: words divided by blanks, with single quotes,
 * double quotes and backslashes as a POSIX shell reads them. Nothing is expanded. What a shell
 * would act on (operators, substitution, globs, assignments) is an error that names it: such a
 * command is a script and needs a grant for a script.
 *
 * @returns The vector, never empty, or one sentence.
 */
export function parseCommandLine(text: string): Result<readonly string[], string> {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === " " || character === "\t") {
      if (word !== null) words.push(word);
      word = null;
    } else if (character === "'" || character === '"') {
      const quoted = character === "'" ? singleQuoted(text, i) : doubleQuoted(text, i);
      if (!quoted.ok) return quoted;
      word = (word ?? "") + quoted.value.text;
      i = quoted.value.end;
    } else if (character === "$" && text.charAt(i + 1) === "'") {
      const quoted = ansiQuoted(text, i + 1);
      if (!quoted.ok) return quoted;
      word = (word ?? "") + quoted.value.text;
      i = quoted.value.end;
    } else if (character === "\\") {
      if (i + 1 >= text.length) return err("The command ends with a backslash");
      i++;
      word = (word ?? "") + text.charAt(i);
    } else if (OPERATORS.has(character)) {
      return err(`Unquoted ${JSON.stringify(character)} in the command: a shell would act on it`);
    } else word = (word ?? "") + character;
  }
  if (word !== null) words.push(word);
  const first = words[0];
  if (first === undefined || first === "") return err("The command is empty");
  if (ASSIGNMENT_REGEXP.test(first)) {
    return err(`The command begins with an assignment: "${first}"`);
  }
  return ok(words);
}

/**
 * Shows an argument vector on one line so that `parseCommandLine` reads the same vector back.
 * Control, bidirectional and invisible characters are shown as escapes.
 */
export function formatCommand(argv: readonly string[]): string {
  return argv.map(formatWord).join(" ");
}

interface Quoted {
  readonly text: string;
  /** Index of the closing quote. */
  readonly end: number;
}

function singleQuoted(text: string, start: number): Result<Quoted, string> {
  const end = text.indexOf("'", start + 1);
  if (end === -1) return err("A single quote is not closed");
  return ok({ text: text.slice(start + 1, end), end });
}

function doubleQuoted(text: string, start: number): Result<Quoted, string> {
  let content = "";
  for (let i = start + 1; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '"') return ok({ text: content, end: i });
    if (character === "$" || character === "`") {
      return err(`${JSON.stringify(character)} in double quotes: a shell would expand it`);
    }
    const next = text.charAt(i + 1);
    if (character === "\\" && (next === '"' || next === "\\" || next === "$" || next === "`")) {
      content += next;
      i++;
    } else content += character;
  }
  return err("A double quote is not closed");
}

/** The `$'...'` form, in the part of it that `formatCommand` writes. */
function ansiQuoted(text: string, start: number): Result<Quoted, string> {
  let content = "";
  for (let i = start + 1; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === "'") return ok({ text: content, end: i });
    if (character !== "\\") {
      content += character;
      continue;
    }
    const escape = ESCAPE_REGEXP.exec(text.slice(i, i + MAX_ESCAPE_LENGTH));
    if (escape === null) return err(`An unknown escape in $'...': "${text.slice(i, i + 2)}"`);
    const [whole, simple, hex, code] = escape;
    if (simple !== undefined) content += SIMPLE_ESCAPES.get(simple) ?? simple;
    else content += String.fromCodePoint(parseInt(hex ?? code ?? "0", 16));
    i += whole.length - 1;
  }
  return err("A $' quote is not closed");
}

const MAX_ESCAPE_LENGTH = 10;
const ESCAPE_REGEXP = /^\\(?:([nrt\\'])|x([0-9a-f]{2})|U(0010[0-9a-f]{4}|000[0-9a-f]{5}))/;
const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([["n", "\n"], ["r", "\r"], [
  "t",
  "\t",
]]);

function formatWord(word: string): string {
  if (PLAIN_REGEXP.test(word) && !ASSIGNMENT_REGEXP.test(word)) return word;
  const hidden = [...word].some((character) => needsEscape(character.codePointAt(0) ?? 0));
  if (hidden) return `$'${[...word].map(escapeCharacter).join("")}'`;
  return word.includes("'") ? `"${word.replace(/["\\$`]/g, "\\$&")}"` : `'${word}'`;
}

function escapeCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  switch (character) {
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
    case "\\":
      return "\\\\";
    case "'":
      return "\\'";
  }
  if (!needsEscape(codePoint)) return character;
  const digits = codePoint.toString(16);
  return codePoint < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
