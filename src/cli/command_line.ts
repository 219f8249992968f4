import { err, ok, type Result } from "../core/result.ts";
import { nearest } from "../core/text/nearest.ts";
import type { UsageError } from "../core/errors.ts";

/** One option of a command: gives parsing, help and completion. */
export interface FlagSpec {
  readonly name: string;
  readonly type: "switch" | "text" | "texts";
  /** Name of the value in help; empty for a switch. */
  readonly value: string;
  readonly summary: string;
  /** Allowed values, where they are few. */
  readonly options?: readonly string[];
}

/** What a command takes. `load` imports its module only when it runs. */
export interface CommandSpec {
  /** One or two words, for example `task show`. */
  readonly name: string;
  readonly summary: string;
  readonly positionals: readonly PositionalSpec[];
  readonly flags: readonly FlagSpec[];
  readonly load: () => Promise<CommandModule>;
}

export interface PositionalSpec {
  readonly name: string;
  readonly required: boolean;
  readonly summary: string;
}

export interface CommandModule {
  /** `commands` is the whole catalog, for a command that describes the others. */
  run(input: CommandInput, commands: readonly CommandSpec[]): Promise<number>;
}

/** A parsed command line. */
export interface CommandInput {
  readonly positionals: readonly string[];
  readonly flags: ParsedFlags;
}

/** Values by flag name: typed access that cannot confuse a switch with a text. */
export class ParsedFlags {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The value, or null when the flag was not given. */
  text(name: string): string | null {
    return this.#values.get(name)?.[0] ?? null;
  }

  /** Every value of a flag that may be repeated, in order. */
  texts(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}

/** Options of every command. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  {
    name: "workspace",
    type: "text",
    value: "DIR",
    summary: "work there (default: the repository around the current folder)",
  },
  {
    name: "config",
    type: "text",
    value: "FILE",
    summary: "use this configuration (default: .fluzo in the workspace root)",
  },
  {
    name: "output",
    type: "text",
    value: "FORMAT",
    summary: "format on standard output: text, json or stream-json (default: text)",
    options: ["text", "json", "stream-json"],
  },
  { name: "no-color", type: "switch", value: "", summary: "no colours (also: NO_COLOR)" },
  { name: "help", type: "switch", value: "", summary: "show help" },
  { name: "version", type: "switch", value: "", summary: "show the version" },
];

/**
 * Parses what follows the command's name: `--flag`, `--flag value`, `--flag=value`; everything after
 * `--` is positional, and so is a lone `-`. A value may begin with a dash only behind `=`, so that
 * a forgotten value is noticed. An unknown flag, a flag without its value, a repeated flag and a
 * surplus argument are errors that name themselves.
 */
export function parseFlags(
  command: CommandSpec,
  argv: readonly string[],
): Result<CommandInput, UsageError> {
  const specs = [...command.flags, ...GLOBAL_FLAGS];
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word === "--") {
      positionals.push(...argv.slice(i + 1));
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      positionals.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const name = word.slice(0, equals === -1 ? undefined : equals).replace(/^--?/, "");
    const spec = specs.find((candidate) => candidate.name === name);
    if (spec === undefined || !word.startsWith("--")) return unknownFlag(command, word);
    const given = values.get(name) ?? [];
    if (given.length > 0 && spec.type !== "texts") {
      return usage(`Option "--${name}" is given twice`, command);
    }
    let value = equals === -1 ? null : word.slice(equals + 1);
    if (spec.type === "switch") {
      if (value !== null) return usage(`Option "--${name}" takes no value`, command);
      value = "true";
    } else if (value === null) {
      const next = argv[i + 1];
      if (next !== undefined && (next === "-" || !next.startsWith("-"))) {
        value = next;
        i++;
      }
    }
    const problem = checkValue(spec, value);
    if (problem !== null) return usage(problem, command);
    values.set(name, [...given, value ?? ""]);
  }
  const input = { positionals, flags: new ParsedFlags(values) };
  if (values.has("help") || values.has("version")) return ok(input);
  if (positionals.length > command.positionals.length) {
    const surplus = positionals[command.positionals.length] ?? "";
    return usage(`Unexpected argument "${surplus}"`, command);
  }
  const missing = command.positionals[positionals.length];
  return missing?.required === true ? usage(`Missing ${missing.name}`, command) : ok(input);
}

function unknownFlag(command: CommandSpec, word: string): Result<never, UsageError> {
  const name = word.replace(/^--?/, "").replace(/=.*$/s, "");
  const known = [...command.flags, ...GLOBAL_FLAGS].map((flag) => flag.name);
  const near = nearest(name, known);
  const hint = near === null ? "" : `: did you mean "--${near}"`;
  return usage(`Unknown option "${word.replace(/=.*$/s, "")}"${hint}`, command);
}

function checkValue(spec: FlagSpec, value: string | null): string | null {
  if (value === null || value === "") return `Option "--${spec.name}" needs a value: ${spec.value}`;
  if (spec.options === undefined || spec.options.includes(value)) return null;
  return `Invalid value of "--${spec.name}": "${value}" is not one of ${spec.options.join(", ")}`;
}

function usage(message: string, command: CommandSpec): Result<never, UsageError> {
  return err({
    type: "usage",
    message,
    hint: `\`fluzo ${command.name} --help\` shows its options`,
  });
}
