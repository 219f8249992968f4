import { MODEL_TIMEOUTS, MODEL_VARIANTS, POOL_FIELDS, SECTIONS } from "./registry.ts";
import type { Fields, Setting } from "./setting.ts";

/** A table of the file with its settings, for documentation and for looking keys up. */
export interface KnownTable {
  /** For example `harness` or `models.<id>`. */
  readonly name: string;
  readonly fields: Fields;
  /** For a table that has variants: which one this is. */
  readonly variant: string | null;
}

/** Every table there can be, in the order of the file. */
export function knownTables(): readonly KnownTable[] {
  const tables: KnownTable[] = [];
  for (const [name, fields] of Object.entries(SECTIONS)) {
    tables.push({ name, fields, variant: null });
    if (name !== "agent") continue;
    for (const [variant, model] of Object.entries(MODEL_VARIANTS)) {
      tables.push({ name: "models.<id>", fields: model, variant });
      if (variant === "openai_compatible") {
        tables.push({ name: "models.<id>.timeouts", fields: MODEL_TIMEOUTS, variant });
      }
    }
    tables.push({ name: "capacity_pools.<id>", fields: POOL_FIELDS, variant: null });
  }
  return tables;
}

/** Every key there can be, collections with `<id>`. */
export function allKeys(): readonly string[] {
  return knownTables().flatMap(({ name, fields }) =>
    Object.keys(fields).map((key) => `${name}.${key}`)
  );
}

/** The setting at the path of a real file, or null. */
export function settingAt(
  path: readonly string[],
  provider: string | null,
): Setting<unknown> | null {
  const collection = path[0] === "models" || path[0] === "capacity_pools";
  const pattern = path.map((part, index) => collection && index === 1 ? "<id>" : part);
  const table = pattern.slice(0, -1).join(".");
  const key = pattern.at(-1) ?? "";
  for (const { name, fields, variant } of knownTables()) {
    if (name !== table || (variant !== null && provider !== null && variant !== provider)) continue;
    const found = fields[key];
    if (found !== undefined) return found;
  }
  return null;
}
