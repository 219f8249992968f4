import type { ConfigProblem } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { nearest } from "../text/nearest.ts";
import { checkTogether } from "./cross_field.ts";
import { allKeys } from "./keys.ts";
import {
  MODEL_TIMEOUTS,
  MODEL_VARIANTS,
  POOL_FIELDS,
  SCHEMA_VERSION,
  SECTIONS,
  type Settings,
} from "./registry.ts";
import type { Fields, Setting, ValueKind } from "./setting.ts";

/** Where a key stands in the file it came from. */
export interface PlaceLookup {
  /** 1-based line and column of the key at `path`, or null when it is not in the file. */
  at(path: readonly string[]): { readonly line: number; readonly column: number } | null;
}

/** Ids of models and pools. */
const ID_REGEXP = /^[A-Za-z0-9_-]{1,64}$/;

/** Problems that are reported; a file with more is not a configuration. */
const MAX_PROBLEMS = 100;

type Table = Readonly<Record<string, unknown>>;

/**
 * Checks a parsed file and puts it over the defaults. Every problem is reported, each with its key,
 * its place and what to do; a value is quoted only where it cannot be sensitive.
 */
export function validateSettings(
  raw: unknown,
  places: PlaceLookup,
): Result<Settings, readonly ConfigProblem[]> {
  const check = new Check(places);
  const table = isTable(raw) ? raw : {};
  if (!isTable(raw)) check.problem([], "must be a table of settings");
  check.version(table["schema_version"]);
  const known = new Set(["schema_version", "models", "capacity_pools"]);
  for (const name of Object.keys(SECTIONS)) known.add(name.split(".")[0] ?? name);
  for (const key of Object.keys(table)) if (!known.has(key)) check.unknown([key], known);
  const section = <N extends keyof typeof SECTIONS>(name: N) =>
    check.section(SECTIONS[name], { value: lookUp(table, name), path: name.split(".") });
  const toolTables = table["tools"];
  if (isTable(toolTables)) check.onlyTables(toolTables, { path: ["tools"], known: ["shell"] });
  else if (toolTables !== undefined) check.problem(["tools"], "must be a table");
  // The registry's types and the checks agree by construction, key by key; the test compares them.
  const settings = {
    schema_version: SCHEMA_VERSION,
    project: section("project"),
    agent: section("agent"),
    models: check.models(table["models"]),
    capacity_pools: check.pools(table["capacity_pools"]),
    decision: section("decision"),
    harness: section("harness"),
    verify: section("verify"),
    tools: { shell: section("tools.shell") },
    policy: section("policy"),
    context: section("context"),
    storage: section("storage"),
    telemetry: section("telemetry"),
    tui: {
      ...section("tui"),
      notifications: section("tui.notifications"),
      flags: section("tui.flags"),
    },
  } as unknown as Settings;
  if (check.problems.length > 0) return err(check.problems.slice(0, MAX_PROBLEMS));
  const together = checkTogether(settings);
  for (const { path, reason } of together) check.problem(path, reason);
  return check.problems.length > 0 ? err(check.problems) : ok(settings);
}

class Check {
  readonly problems: ConfigProblem[] = [];
  readonly #places: PlaceLookup;

  constructor(places: PlaceLookup) {
    this.#places = places;
  }

  problem(path: readonly string[], reason: string, hint: string | null = null): void {
    const place = this.#place(path);
    this.problems.push({ key: path.join("."), reason, hint, ...place });
  }

  /** The place of the key, or of the nearest table around it that is in the file. */
  #place(path: readonly string[]): { readonly line: number; readonly column: number } {
    for (let length = path.length; length > 0; length--) {
      const place = this.#places.at(path.slice(0, length));
      if (place !== null) return place;
    }
    return { line: 0, column: 0 };
  }

  version(value: unknown): void {
    const path = ["schema_version"];
    if (value === undefined) {
      this.problem(path, "is missing", `write schema_version = ${SCHEMA_VERSION} at the top`);
    } else if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
      this.problem(path, "must be a whole number from 1");
    } else if (value > SCHEMA_VERSION) {
      this.problem(
        path,
        `is ${value}, but this Fluzo knows only ${SCHEMA_VERSION}`,
        "use the Fluzo that wrote the file",
      );
    }
  }

  unknown(path: readonly string[], known: Iterable<string>): void {
    const name = path.at(-1) ?? "";
    const typo = nearest(name, known);
    if (typo !== null) {
      this.problem(path, "is not a setting", `did you mean "${typo}"`);
      return;
    }
    const elsewhere = allKeys().filter((key) => key.split(".").at(-1) === name);
    const home = elsewhere[0]?.split(".").slice(0, -1).join(".");
    this.problem(
      path,
      "is not a setting here",
      home === undefined || home === "" ? null : `it belongs into [${home}]`,
    );
  }

  onlyTables(
    table: Table,
    { path, known }: { readonly path: readonly string[]; readonly known: readonly string[] },
  ): void {
    for (const key of Object.keys(table)) {
      if (!known.includes(key)) this.unknown([...path, key], known);
    }
  }

  /** One table with fixed keys. Tables within it are left to their own section. */
  section(
    fields: Fields,
    { value, path, inner = innerTables(path) }: {
      readonly value: unknown;
      readonly path: readonly string[];
      readonly inner?: readonly string[];
    },
  ): Readonly<Record<string, unknown>> {
    if (value !== undefined && !isTable(value)) {
      this.problem(path, "must be a table");
      return {};
    }
    const table = value ?? {};
    for (const key of Object.keys(table)) {
      if (!Object.hasOwn(fields, key) && !inner.includes(key)) {
        this.unknown([...path, key], [...Object.keys(fields), ...inner]);
      }
    }
    return Object.fromEntries(
      Object.entries(fields).map(([key, setting]) => [
        key,
        this.#value(setting, {
          value: Object.hasOwn(table, key) ? table[key] : undefined,
          path: [...path, key],
        }),
      ]),
    );
  }

  models(value: unknown): Readonly<Record<string, unknown>> {
    return this.#collection(value, ["models"], (entry, path) => {
      if (!isTable(entry)) {
        this.problem(path, "must be a table");
        return {};
      }
      const provider = entry["provider"];
      const names = Object.keys(MODEL_VARIANTS);
      if (provider !== "openai_compatible" && provider !== "laya_systemone") {
        this.problem(
          [...path, "provider"],
          provider === undefined ? "is missing" : "is not a known provider",
          `use ${names.join(" or ")}`,
        );
        return {};
      }
      if (provider === "laya_systemone") {
        return this.section(MODEL_VARIANTS[provider], { value: entry, path, inner: [] });
      }
      return {
        ...this.section(MODEL_VARIANTS[provider], { value: entry, path, inner: ["timeouts"] }),
        timeouts: this.section(MODEL_TIMEOUTS, {
          value: entry["timeouts"],
          path: [...path, "timeouts"],
          inner: [],
        }),
      };
    });
  }

  pools(value: unknown): Readonly<Record<string, unknown>> {
    return this.#collection(
      value,
      ["capacity_pools"],
      (entry, path) => this.section(POOL_FIELDS, { value: entry, path, inner: [] }),
    );
  }

  #collection(
    value: unknown,
    path: readonly string[],
    read: (entry: unknown, path: readonly string[]) => unknown,
  ): Readonly<Record<string, unknown>> {
    if (value === undefined) return {};
    if (!isTable(value)) {
      this.problem(path, "must be a table");
      return {};
    }
    return Object.fromEntries(
      Object.entries(value).map(([id, entry]) => {
        if (!ID_REGEXP.test(id)) {
          this.problem([...path, id], "is not a usable id", "use letters, digits, _ and -");
        }
        return [id, read(entry, [...path, id])];
      }),
    );
  }

  #value(
    setting: Setting<unknown>,
    { value, path }: { readonly value: unknown; readonly path: readonly string[] },
  ): unknown {
    if (value === undefined) {
      if (setting.default === undefined) this.problem(path, "is missing", setting.text);
      return setting.default;
    }
    const reason = checkValue(setting.kind, value);
    if (reason !== null) this.problem(path, reason);
    // A parser's table may have no prototype; settings are plain data.
    return setting.kind.type === "text_map" && isTable(value) ? { ...value } : value;
  }
}

/** What is wrong with a value, or null. The value itself is never quoted. */
function checkValue(kind: ValueKind, value: unknown): string | null {
  switch (kind.type) {
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false";
    case "integer":
      if (typeof value !== "number" || !Number.isSafeInteger(value)) {
        return "must be a whole number";
      }
      return inRange(kind, value) ? null : `must be ${kind.minimum} to ${kind.maximum}`;
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
      return inRange(kind, value) ? null : `must be ${kind.minimum} to ${kind.maximum}`;
    case "text":
      if (typeof value !== "string") return "must be a text in quotes";
      if (value.length > kind.maxLength) return `must be at most ${kind.maxLength} characters`;
      return kind.matches(value) ? null : `must be ${kind.pattern}`;
    case "choice":
      return typeof value === "string" && kind.options.includes(value)
        ? null
        : `must be ${kind.options.map((option) => `"${option}"`).join(" or ")}`;
    case "texts":
      if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
        return "must be a list of texts";
      }
      return value.length <= kind.maxItems ? null : `must have at most ${kind.maxItems} entries`;
    case "text_map":
      if (!isTable(value) || !Object.values(value).every((item) => typeof item === "string")) {
        return "must be a table of texts";
      }
      return Object.keys(value).length <= kind.maxItems
        ? null
        : `must have at most ${kind.maxItems} entries`;
  }
}

function inRange(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  value: number,
): boolean {
  return value >= minimum && value <= maximum;
}

/** Names of the sections one level below `path`. */
function innerTables(path: readonly string[]): readonly string[] {
  const prefix = `${path.join(".")}.`;
  return Object.keys(SECTIONS).filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}

function lookUp(table: Table, name: string): unknown {
  let value: unknown = table;
  for (const part of name.split(".")) {
    if (!isTable(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null);
}
