import { parse, TomlError } from "smol-toml";
import type {
  ConfigProblem,
  ConfigurationInvalidError,
  ConfigurationRequiredError,
} from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Settings } from "../../core/settings/registry.ts";
import { validateSettings } from "../../core/settings/validate.ts";
import { tomlPlaces } from "./toml_places.ts";

/** Name of the configuration file in a workspace root. */
export const CONFIG_FILE = ".fluzo";

/** Largest configuration that is read, in bytes: a hundred models fit in a tenth of it. */
const MAX_CONFIG_BYTES = 1 << 20;

/** A value given on the command line: beats the file. */
export interface Override {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The flag it came from, for messages. */
  readonly flag: string;
}

/** The configuration as it applies now. */
export interface LoadedConfig {
  readonly path: string;
  readonly settings: Settings;
  /** The file's own tables and values, before defaults. */
  readonly file: Readonly<Record<string, unknown>>;
  readonly overrides: readonly Override[];
}

/**
 * Reads, parses and checks a configuration file. Only a regular file counts: a folder of that name
 * (an installer makes one beside its shim) is no configuration, and a link is refused.
 */
export async function loadConfig(
  path: string,
  overrides: readonly Override[],
): Promise<Result<LoadedConfig, ConfigurationRequiredError | ConfigurationInvalidError>> {
  const bytes = await readRegularFile(path);
  if (bytes === null) return err({ type: "configuration_required", path });
  if (typeof bytes === "string") return invalid(path, [fileProblem(bytes)]);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return invalid(path, [fileProblem("is not UTF-8")]);
  }
  let file: Record<string, unknown>;
  try {
    file = parse(text);
  } catch (failure) {
    if (!(failure instanceof TomlError)) throw failure;
    return invalid(path, [syntaxProblem(failure)]);
  }
  const validated = validateSettings(withOverrides(file, overrides), tomlPlaces(text));
  if (!validated.ok) return invalid(path, validated.error);
  return ok({ path, settings: validated.value, file, overrides });
}

/** The content; null when there is no file; a sentence when there is one that cannot be used. */
async function readRegularFile(path: string): Promise<Uint8Array | string | null> {
  try {
    const info = await Deno.lstat(path);
    if (info.isDirectory) return null;
    if (info.isSymlink) return "is a link: use a regular file";
    if (!info.isFile) return "is not a regular file";
    if (info.size > MAX_CONFIG_BYTES) return `is larger than ${MAX_CONFIG_BYTES} bytes`;
    return await Deno.readFile(path);
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return null;
    if (failure instanceof Deno.errors.PermissionDenied) return "cannot be read: permission denied";
    throw failure;
  }
}

function withOverrides(
  file: Readonly<Record<string, unknown>>,
  overrides: readonly Override[],
): Readonly<Record<string, unknown>> {
  let merged = file;
  for (const { path, value } of overrides) merged = setAt(merged, { path, value });
  return merged;
}

function setAt(
  table: Readonly<Record<string, unknown>>,
  { path, value }: { readonly path: readonly string[]; readonly value: unknown },
): Readonly<Record<string, unknown>> {
  const [key, ...rest] = path;
  if (key === undefined) return table;
  const child = table[key];
  const inner = typeof child === "object" && child !== null && !Array.isArray(child)
    ? child as Readonly<Record<string, unknown>>
    : {};
  return { ...table, [key]: rest.length === 0 ? value : setAt(inner, { path: rest, value }) };
}

function fileProblem(reason: string): ConfigProblem {
  return { key: "", reason: `the file ${reason}`, line: 0, column: 0, hint: null };
}

function syntaxProblem(failure: TomlError): ConfigProblem {
  // The message goes on with a picture of the source, which may hold anything: only the reason.
  const reason = failure.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
  return {
    key: "",
    reason: `is not TOML: ${reason}`,
    line: failure.line,
    column: failure.column,
    hint: null,
  };
}

function invalid(
  path: string,
  problems: readonly ConfigProblem[],
): Result<never, ConfigurationInvalidError> {
  return err({ type: "configuration_invalid", path, problems });
}
