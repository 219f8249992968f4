import type { FluzoError } from "../core/errors.ts";
import { err, ok, type Result } from "../core/result.ts";
import { findWorkspaceRoot } from "../runtime/config/find_workspace.ts";
import { CONFIG_FILE, loadConfig, type LoadedConfig } from "../runtime/config/load.ts";
import { type UserPaths, userPaths } from "../runtime/config/paths.ts";
import type { WorkspaceIdentity } from "../runtime/consent/consent_store.ts";
import { workspaceIdentity } from "../runtime/workspace/identity.ts";
import type { ParsedFlags } from "./command_line.ts";
import { OutputWriter } from "./output/writer.ts";
import { chooseStyle, type Style } from "./output/style.ts";

/** How results are printed. */
export type OutputFormat = "text" | "json" | "stream-json";

/** What every command has: where it works and where its output goes. */
export interface CommandContext {
  readonly flags: ParsedFlags;
  readonly format: OutputFormat;
  readonly stdout: OutputWriter;
  readonly stderr: OutputWriter;
  /** Styles for the two streams. */
  readonly style: Style;
  readonly errorStyle: Style;
}

/** A workspace a command was pointed at. */
export interface Location {
  readonly root: string;
  readonly configPath: string;
  readonly identity: WorkspaceIdentity;
}

/** The output side of a command line. */
export function commandContext(flags: ParsedFlags): CommandContext {
  const style = (stream: { isTerminal(): boolean }): Style =>
    chooseStyle({
      terminal: stream.isTerminal(),
      noColorFlag: flags.has("no-color"),
      noColorVariable: Deno.env.get("NO_COLOR"),
      term: Deno.env.get("TERM"),
    });
  return {
    flags,
    format: (flags.text("output") ?? "text") as OutputFormat,
    stdout: new OutputWriter(Deno.stdout),
    stderr: new OutputWriter(Deno.stderr),
    style: style(Deno.stdout),
    errorStyle: style(Deno.stderr),
  };
}

/** What is known of the terminal, from the environment and the three streams. */
export interface TerminalFacts {
  readonly isTerminal: { readonly input: boolean; readonly output: boolean };
  readonly columns: number | null;
  readonly rows: number | null;
  readonly term: string | null;
  readonly colorTerm: string | null;
  readonly noColor: string | null;
  /** The first set one of LC_ALL, LC_CTYPE and LANG. */
  readonly locale: string | null;
}

/** What the terminal is like in which this command runs. */
export function terminalFacts(): TerminalFacts {
  const output = Deno.stdout.isTerminal();
  const size = output ? Deno.consoleSize() : null;
  return {
    isTerminal: { input: Deno.stdin.isTerminal(), output },
    columns: size?.columns ?? null,
    rows: size?.rows ?? null,
    term: readText("TERM"),
    colorTerm: readText("COLORTERM"),
    noColor: readText("NO_COLOR"),
    locale: readText("LC_ALL") ?? readText("LC_CTYPE") ?? readText("LANG"),
  };
}

/** Finds the workspace a command is about. */
export async function locate(flags: ParsedFlags): Promise<Result<Location, FluzoError>> {
  const start = flags.text("workspace") ?? startFolder();
  let root: string;
  try {
    const info = await Deno.stat(start);
    if (!info.isDirectory) return noFolder(start, "it is not a folder");
    // A folder that was named is meant; only the current one stands for the repository around it.
    root = flags.has("workspace") ? await Deno.realPath(start) : await findWorkspaceRoot(start);
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return noFolder(start, "it does not exist");
    if (failure instanceof Deno.errors.PermissionDenied) return noFolder(start, "access is denied");
    throw failure;
  }
  const config = flags.text("config");
  return ok({
    root,
    configPath: config === null ? `${root}/${CONFIG_FILE}` : absolute(config),
    identity: await workspaceIdentity(root),
  });
}

/** The configuration of a workspace. */
export async function loadFor(location: Location): Promise<Result<LoadedConfig, FluzoError>> {
  return await loadConfig(location.configPath, []);
}

/** Where the user's own files are. */
export function findUserPaths(): Result<UserPaths, FluzoError> {
  const paths = userPaths({
    home: Deno.env.get("HOME") ?? null,
    configHome: Deno.env.get("XDG_CONFIG_HOME") ?? null,
    stateHome: Deno.env.get("XDG_STATE_HOME") ?? null,
  });
  return paths === null
    ? err({
      type: "usage",
      message: "Cannot find your own files: HOME is not set",
      hint: "Set HOME, or both XDG_CONFIG_HOME and XDG_STATE_HOME",
    })
    : ok(paths);
}

/** A variable of the environment, as far as this process may read it. */
export function readVariable(name: string): string | null | "denied" {
  try {
    return Deno.env.get(name) ?? null;
  } catch (failure) {
    if (failure instanceof Deno.errors.NotCapable) return "denied";
    throw failure;
  }
}

/** A variable with something in it, or null. */
function readText(name: string): string | null {
  const value = readVariable(name);
  return value === "denied" || value === "" ? null : value;
}

/** The folder the user is in: a task runner changes it and says where it was. */
function startFolder(): string {
  const initial = Deno.env.get("FLUZO_DEV") === "1" ? Deno.env.get("INIT_CWD") : undefined;
  return initial ?? Deno.cwd();
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `${startFolder()}/${path}`;
}

function noFolder(path: string, reason: string): Result<never, FluzoError> {
  return err({
    type: "usage",
    message: `Cannot work in "${path}": ${reason}`,
    hint: "Give an existing folder with --workspace",
  });
}
