import { knownTables } from "../../core/settings/keys.ts";
import type { Settings } from "../../core/settings/registry.ts";
import { visible } from "../../core/text/visible.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext, loadFor, locate } from "../composition.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** One setting as it applies. */
interface ShownSetting {
  readonly key: string;
  readonly value: unknown;
  readonly origin: "default" | "file";
  readonly unit: string;
}

/** `fluzo config show`: values and where they come from. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const config = await loadFor(location.value);
  if (!config.ok) return await failWith(context, config.error);
  const all = listSettings(config.value.settings, config.value.file);
  const shown = flags.has("effective") ? all : all.filter(({ origin }) => origin === "file");
  return await succeedWith(context, {
    text: [
      `# ${visible(config.value.path)}`,
      ...shown.map(({ key, value, origin, unit }) =>
        `${key} = ${visible(JSON.stringify(value))}${unit === "" ? "" : ` # ${unit}`}${
          origin === "default" ? " # default" : ""
        }`
      ),
      "",
    ].join("\n"),
    json: { type: "config", path: config.value.path, settings: shown },
  });
}

function listSettings(
  settings: Settings,
  file: Readonly<Record<string, unknown>>,
): readonly ShownSetting[] {
  const shown: ShownSetting[] = [];
  for (const { name, fields, variant } of knownTables()) {
    for (const path of pathsOf(name, { settings, variant })) {
      for (const [key, { unit }] of Object.entries(fields)) {
        const value = lookUp(settings, [...path, key]);
        if (value === undefined || value === null) continue;
        const given = lookUp(file, [...path, key]) !== undefined;
        shown.push({
          key: [...path, key].join("."),
          value: maskEnvironment([...path, key], value),
          origin: given ? "file" : "default",
          unit,
        });
      }
    }
  }
  return shown;
}

/** Values of tool variables may hold what should not be on a screen: only their names are shown. */
function maskEnvironment(path: readonly string[], value: unknown): unknown {
  if (path.join(".") !== "tools.shell.env" || typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(Object.keys(value).map((name) => [name, "***"]));
}

function pathsOf(
  name: string,
  { settings, variant }: { readonly settings: Settings; readonly variant: string | null },
): readonly (readonly string[])[] {
  const parts = name.split(".");
  if (parts[1] !== "<id>") return [parts];
  const collection = parts[0] === "models" ? settings.models : settings.capacity_pools;
  return Object.entries(collection)
    .filter(([, entry]) => variant === null || ("provider" in entry && entry.provider === variant))
    .map(([id]) => [parts[0] ?? "", id, ...parts.slice(2)]);
}

function lookUp(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) {
      return undefined;
    }
    current = (current as Readonly<Record<string, unknown>>)[part];
  }
  return current;
}
