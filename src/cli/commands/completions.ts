import { type CommandInput, type CommandSpec, GLOBAL_FLAGS } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo completions SHELL`: a script made from the command table. */
export async function run(
  { positionals, flags }: CommandInput,
  commands: readonly CommandSpec[],
): Promise<number> {
  const context = commandContext(flags);
  const shell = positionals[0] ?? "";
  const text = script(shell, commands);
  if (text === null) {
    return await failWith(context, {
      type: "usage",
      message: `Cannot complete for "${shell}"`,
      hint: "Give bash, zsh or fish",
    });
  }
  return await succeedWith(context, { text, json: { type: "completions", shell, script: text } });
}

function script(shell: string, commands: readonly CommandSpec[]): string | null {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return `#compdef fluzo\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case "fish":
      return fish(commands);
    default:
      return null;
  }
}

function bash(commands: readonly CommandSpec[]): string {
  const cases = commands.map((command) =>
    `    "${command.name}") words="${flagsOf(command).map(({ name }) => `--${name}`).join(" ")}" ;;`
  );
  const groups = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
  const second = groups.flatMap((group) => {
    const words = commands.flatMap(({ name }) =>
      name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []
    );
    return words.length === 0 ? [] : [`    "${group}") words="${words.join(" ")}" ;;`];
  });
  return [
    "_fluzo() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" words="" command="${COMP_WORDS[1]}"',
    '  case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
    ...commands.filter(({ name }) => name.includes(" ")).map(({ name }) =>
      `    "${name}") command="${name}" ;;`
    ),
    "  esac",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${groups.join(" ")} --help --version"`,
    '  else case "$command" in',
    ...second,
    ...cases,
    "  esac; fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _fluzo fluzo",
    "",
  ].join("\n");
}

function fish(commands: readonly CommandSpec[]): string {
  const lines = ["complete -c fluzo -f"];
  for (const command of commands) {
    const [first = "", second] = command.name.split(" ");
    const summary = quote(command.summary);
    lines.push(
      second === undefined
        ? `complete -c fluzo -n __fish_use_subcommand -a ${first} -d ${summary}`
        : `complete -c fluzo -n "__fish_seen_subcommand_from ${first}" -a ${second} -d ${summary}`,
    );
    for (const flag of flagsOf(command)) {
      const needs = flag.type === "switch" ? "" : " -r";
      lines.push(
        `complete -c fluzo -n "__fish_seen_subcommand_from ${
          second ?? first
        }" -l ${flag.name}${needs} -d ${quote(flag.summary)}`,
      );
    }
  }
  const groups = new Set(
    commands.flatMap(({ name }) => name.includes(" ") ? [name.split(" ")[0]] : []),
  );
  for (const group of groups) lines.push(`complete -c fluzo -n __fish_use_subcommand -a ${group}`);
  return `${lines.join("\n")}\n`;
}

function flagsOf(command: CommandSpec): CommandSpec["flags"] {
  return [...command.flags, ...GLOBAL_FLAGS];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
