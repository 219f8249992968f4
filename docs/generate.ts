/**
 * Writes the parts of the documentation that repeat code: `docs/configuration.md` from the settings
 * registry, and the command and exit-code tables of `docs/cli.md`. A test compares them.
 */
import { COMMANDS } from "../src/cli/catalog.ts";
import { type FlagSpec, GLOBAL_FLAGS } from "../src/cli/command_line.ts";
import { EXIT_CODES, EXIT_MEANINGS, type ExitName } from "../src/cli/exit_codes.ts";
import { knownTables } from "../src/core/settings/keys.ts";
import type { ApplicationRule, Setting, ValueKind } from "../src/core/settings/setting.ts";

const FOLDER = new URL("./", import.meta.url);
const BEGIN = (name: string): string => `<!-- generated: ${name} -->`;
const END = "<!-- end of generated -->";

/** The generated documents, by file name. */
export function generateDocs(): ReadonlyMap<string, string> {
  const cli = Deno.readTextFileSync(new URL("cli.md", FOLDER));
  return new Map([
    ["configuration.md", configurationText()],
    ["cli.md", replacePart(replacePart(cli, "commands", commandsText()), "exit codes", exitText())],
  ]);
}

function configurationText(): string {
  const parts = [
    "# Configuration",
    "",
    "<!-- Written by `deno task docs` from src/core/settings/registry.ts: do not edit. -->",
    "",
    "One TOML file, `.fluzo`, in the workspace root. It is data: it includes nothing, expands nothing",
    "and runs nothing. Precedence: built-in defaults, then the file, then command-line flags. There is",
    "no global layer. Every problem is reported with key, line, column and reason; nothing is ignored.",
    "Secrets never belong into the file: see `auth` below.",
    "",
    "Keys marked *consent* take part in what you agree to with `fluzo consent grant`: changing one asks",
    "again. `fluzo config show --effective` shows what applies and where it comes from.",
    "",
  ];
  for (const { name, fields, variant } of knownTables()) {
    const title = variant === null || name.endsWith("timeouts") ? name : `${name}, ${variant}`;
    parts.push(
      `## \`[${name}]\`${title === name ? "" : ` with provider = "${variant}"`}`,
      "",
      "| key | type | default | unit | applies | |",
      "|---|---|---|---|---|---|",
      ...Object.entries(fields).map(([key, setting]) => row(key, setting)),
      "",
    );
  }
  return `${parts.join("\n").trimEnd()}\n`;
}

function row(key: string, setting: Setting<unknown>): string {
  const consent = setting.consent ? " *Consent.*" : "";
  const cells = [
    `\`${key}\``,
    describeKind(setting.kind),
    describeDefault(setting),
    setting.unit,
    APPLIES[setting.applies],
    setting.text + consent,
  ];
  return `| ${cells.map(escapeCell).join(" | ")} |`;
}

const APPLIES: Readonly<Record<ApplicationRule, string>> = {
  live: "at once",
  future_tasks: "to future tasks",
  safe_boundary: "at a safe boundary",
  restart: "after a restart",
};

function describeKind(kind: ValueKind): string {
  switch (kind.type) {
    case "boolean":
      return "true or false";
    case "integer":
    case "number":
      return `${kind.type}, ${kind.minimum} to ${kind.maximum}`;
    case "text":
      return "text";
    case "choice":
      return kind.options.map((option) => `\`"${option}"\``).join(" or ");
    case "texts":
      return "list of texts";
    case "text_map":
      return "table of texts";
  }
}

function describeDefault(setting: Setting<unknown>): string {
  if (setting.default === undefined) return "required";
  return setting.default === null ? "" : `\`${JSON.stringify(setting.default)}\``;
}

function commandsText(): string {
  const parts = COMMANDS.map((command) => {
    const words = command.positionals.map(({ name, required }) => required ? name : `[${name}]`);
    const lines = [
      `### \`fluzo ${[command.name, ...words].join(" ")}\``,
      "",
      `${command.summary}.`,
      "",
    ];
    for (const { name, summary } of command.positionals) lines.push(`- \`${name}\`: ${summary}`);
    lines.push(...command.flags.map(flagLine));
    if (command.flags.length + command.positionals.length > 0) lines.push("");
    return lines.join("\n");
  });
  parts.push(["### Options of every command", "", ...GLOBAL_FLAGS.map(flagLine), ""].join("\n"));
  return parts.join("\n").trimEnd();
}

function flagLine(flag: FlagSpec): string {
  const value = flag.value === "" ? "" : ` ${flag.value}`;
  return `- \`--${flag.name}${value}\`${
    flag.type === "texts" ? " (repeatable)" : ""
  }: ${flag.summary}`;
}

function exitText(): string {
  const names = Object.keys(EXIT_CODES) as ExitName[];
  return [
    "| code | name | meaning |",
    "|---|---|---|",
    ...names.map((name) => `| ${EXIT_CODES[name]} | \`${name}\` | ${EXIT_MEANINGS[name]} |`),
  ].join("\n");
}

/** Puts text between the markers of a part. */
function replacePart(document: string, name: string, text: string): string {
  const begin = document.indexOf(BEGIN(name));
  const end = document.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new Error(`Cannot find the markers of "${name}" in cli.md`);
  const head = document.slice(0, begin + BEGIN(name).length);
  return `${head}\n\n${text}\n\n${document.slice(end)}`;
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) {
  for (const [name, text] of generateDocs()) {
    await Deno.writeTextFile(new URL(name, FOLDER), text);
  }
}
