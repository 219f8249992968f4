import { knownTables } from "./keys.ts";
import type { Settings } from "./registry.ts";
import { isObject } from "../json.ts";

/** One thing the user agrees to: a key and its value, word for word. */
export interface ConsentItem {
  readonly key: string;
  /** The value as it is in JSON; null for what is not set. */
  readonly value: unknown;
}

/**
 * Everything in the configuration that could send data somewhere, run something or widen what is
 * allowed: exactly what is shown for consent, and exactly what the fingerprint covers.
 */
export function consentItems(settings: Settings): readonly ConsentItem[] {
  const items: ConsentItem[] = [];
  for (const { name, fields, variant } of knownTables()) {
    const relevant = Object.entries(fields).filter(([, setting]) => setting.consent);
    if (relevant.length === 0) continue;
    for (const { table, path } of tablesNamed(settings, { name, variant })) {
      for (const [key] of relevant) {
        items.push({ key: `${path}.${key}`, value: table[key] ?? null });
      }
    }
  }
  return items.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** The text whose digest identifies a consent: canonical, so equal settings give equal texts. */
export function fingerprintText(settings: Settings): string {
  return consentItems(settings)
    .map(({ key, value }) => `${JSON.stringify(key)}:${canonical(value)}`)
    .join("\n");
}

function tablesNamed(
  settings: Settings,
  { name, variant }: { readonly name: string; readonly variant: string | null },
): readonly { readonly table: Readonly<Record<string, unknown>>; readonly path: string }[] {
  const parts = name.split(".");
  if (parts[1] === "<id>") {
    const collection = parts[0] === "models" ? settings.models : settings.capacity_pools;
    return Object.entries(collection).flatMap(([id, entry]) => {
      const table: Readonly<Record<string, unknown>> = { ...entry };
      if (variant !== null && table["provider"] !== variant) return [];
      const inner = parts.slice(2).reduce<unknown>((value, part) => child(value, part), table);
      return isObject(inner)
        ? [{ table: inner, path: [parts[0], id, ...parts.slice(2)].join(".") }]
        : [];
    });
  }
  const table = parts.reduce<unknown>((value, part) => child(value, part), settings);
  return isObject(table) ? [{ table, path: name }] : [];
}

function child(value: unknown, part: string): unknown {
  return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}
