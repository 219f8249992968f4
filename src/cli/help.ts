import { type CommandSpec, type FlagSpec, GLOBAL_FLAGS } from "./command_line.ts";
import { COMMANDS } from "./catalog.ts";

/** Column where descriptions begin. */
const TEXT_COLUMN = 28;

/** Help for the whole program. */
export function programHelp(version: string): string {
  return [
    `fluzo ${version}: a coding agent for this repository`,
    "",
    "Usage: fluzo COMMAND [OPTIONS]",
    "",
    "Commands:",
    ...COMMANDS.map((command) => row(usageName(command), command.summary)),
    "",
    "Options of every command:",
    ...GLOBAL_FLAGS.map(flagRow),
    "",
    'Begin with `fluzo init`, then `fluzo consent grant`, then `fluzo run "..."`.',
    "",
  ].join("\n");
}

/** Help for one command. */
export function commandHelp(command: CommandSpec): string {
  const lines = [`fluzo ${usageName(command)}: ${command.summary}`, ""];
  const options = command.flags.length > 0 ? " [OPTIONS]" : "";
  lines.push(`Usage: fluzo ${usageName(command)}${options}`, "");
  if (command.positionals.length > 0) {
    lines.push("Arguments:", ...command.positionals.map((p) => row(p.name, p.summary)), "");
  }
  if (command.flags.length > 0) lines.push("Options:", ...command.flags.map(flagRow), "");
  lines.push("Options of every command:", ...GLOBAL_FLAGS.map(flagRow), "");
  return lines.join("\n");
}

function usageName(command: CommandSpec): string {
  const words = command.positionals.map(({ name, required }) => required ? name : `[${name}]`);
  return [command.name, ...words].join(" ");
}

function flagRow(flag: FlagSpec): string {
  const repeated = flag.type === "texts" ? " (may be repeated)" : "";
  return row(`--${flag.name}${flag.value === "" ? "" : ` ${flag.value}`}`, flag.summary + repeated);
}

function row(left: string, right: string): string {
  const gap = left.length + 4 > TEXT_COLUMN
    ? `\n${" ".repeat(TEXT_COLUMN)}`
    : " ".repeat(TEXT_COLUMN - left.length - 2);
  return `  ${left}${gap}${right}`;
}
