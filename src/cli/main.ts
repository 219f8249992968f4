import { COMMANDS } from "./catalog.ts";
import { type CommandSpec, ParsedFlags, parseFlags } from "./command_line.ts";
import { commandContext } from "./composition.ts";
import { EXIT_CODES, exitFor } from "./exit_codes.ts";
import type { FluzoError } from "../core/errors.ts";
import { FluzoFailure } from "../core/errors.ts";
import { nearest } from "../core/text/nearest.ts";
import { errorJson, errorText } from "./output/error_output.ts";
import { safeJson } from "./output/safe_text.ts";
import { VERSION } from "./version.ts";

/** Runs a command line and returns its exit code. All output is out when it returns. */
async function main(argv: readonly string[]): Promise<number> {
  const found = findCommand(argv);
  if (found === null) return await withoutCommand(argv);
  const parsed = parseFlags(found.command, found.rest);
  if (!parsed.ok) return await fail(parsed.error, argv.includes("json"));
  const { flags } = parsed.value;
  if (flags.has("version")) return await print(`fluzo ${VERSION}\n`);
  if (flags.has("help")) {
    const { commandHelp } = await import("./help.ts");
    return await print(commandHelp(found.command));
  }
  try {
    const module = await found.command.load();
    return await module.run(parsed.value, COMMANDS);
  } catch (failure) {
    return await fail(toError(failure), flags.text("output") !== null);
  }
}

/** The command whose words begin the line: the longest name wins. */
function findCommand(
  argv: readonly string[],
): { readonly command: CommandSpec; readonly rest: readonly string[] } | null {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(" ");
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command !== undefined && argv.length >= words) {
      return { command, rest: argv.slice(words) };
    }
  }
  return null;
}

async function withoutCommand(argv: readonly string[]): Promise<number> {
  const [first] = argv;
  if (first === "--version" || first === "-V") return await print(`fluzo ${VERSION}\n`);
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    const { programHelp } = await import("./help.ts");
    return await print(programHelp(VERSION));
  }
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  const typed = argv.slice(0, 2).join(" ");
  const near = nearest(typed, COMMANDS.map(({ name }) => name)) ??
    nearest(first, COMMANDS.map(({ name }) => name));
  return await fail({
    type: "usage",
    message: group.length > 0
      ? `"fluzo ${first}" needs one of: ${group.map(({ name }) => name.split(" ")[1]).join(", ")}`
      : `There is no command "${first}"${near === null ? "" : `: did you mean "fluzo ${near}"`}`,
    hint: "`fluzo --help` lists the commands",
  }, false);
}

async function print(text: string): Promise<number> {
  const { stdout } = commandContext(new ParsedFlags(new Map()));
  await stdout.write(text);
  return EXIT_CODES.ok;
}

/** Reports an error: words on standard error, and where JSON was asked for an object on stdout. */
async function fail(error: FluzoError, json: boolean): Promise<number> {
  const { stdout, stderr, errorStyle } = commandContext(new ParsedFlags(new Map()));
  if (json) await stdout.write(`${safeJson({ type: "error", ...errorJson(error) })}\n`);
  await stderr.write(errorText(error, errorStyle));
  return EXIT_CODES[exitFor(error)];
}

function toError(failure: unknown): FluzoError {
  if (failure instanceof FluzoFailure) return failure.error;
  if (failure instanceof Deno.errors.NotCapable) {
    return {
      type: "internal",
      detail: `a permission is missing: ${failure.message.split(",")[0]}`,
    };
  }
  return {
    type: "internal",
    detail: failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure),
  };
}

if (import.meta.main) Deno.exit(await main(Deno.args));
