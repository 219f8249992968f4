/** What the value of a setting may be. */
export type ValueKind =
  | { readonly type: "boolean" }
  | { readonly type: "integer"; readonly minimum: number; readonly maximum: number }
  | { readonly type: "number"; readonly minimum: number; readonly maximum: number }
  /** `pattern` says in words what the text must look like; `matches` checks it. */
  | {
    readonly type: "text";
    readonly maxLength: number;
    readonly pattern: string;
    readonly matches: (text: string) => boolean;
  }
  | { readonly type: "choice"; readonly options: readonly string[] }
  | { readonly type: "texts"; readonly maxItems: number }
  /** A table of texts, such as environment variables. */
  | { readonly type: "text_map"; readonly maxItems: number };

/** When a changed value takes effect. */
export type ApplicationRule = "live" | "future_tasks" | "safe_boundary" | "restart";

/** What is told about every setting, whatever its type. */
export interface SettingFacts {
  /** One sentence for documentation, screens and the schema. */
  readonly text: string;
  /** For example "s", "bytes", "tokens"; empty where there is none. */
  readonly unit: string;
  readonly applies: ApplicationRule;
  /** Takes part in what the user agrees to: a change asks again. */
  readonly consent: boolean;
  /** A value that is never repeated in a message, although it is no secret itself. */
  readonly sensitive: boolean;
}

/** One setting. `T` is the type of its value; a default of `undefined` means it must be given. */
export interface Setting<T> extends SettingFacts {
  readonly kind: ValueKind;
  readonly default: T | undefined;
  /** Never set: carries the type of the value to `ValuesOf`. */
  readonly value?: T;
}

/** The settings of one table. */
export type Fields = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table, by the names they have in the file. */
export type ValuesOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Setting<infer T> ? T : never;
};

type Options<T> = Partial<Omit<SettingFacts, "text">> & { readonly default?: T };

/** The longest text a setting may hold where nothing shorter is reasonable, in characters. */
const MAX_TEXT_LENGTH = 2048;

/** Entries of a list or table setting: more than any honest configuration has. */
const MAX_ITEMS = 256;

function setting<T>(kind: ValueKind, text: string, options: Options<T>): Setting<T> {
  return {
    kind,
    text,
    default: options.default,
    unit: options.unit ?? "",
    applies: options.applies ?? "future_tasks",
    consent: options.consent ?? false,
    sensitive: options.sensitive ?? false,
  };
}

export function boolean(text: string, options: Options<boolean>): Setting<boolean> {
  return setting({ type: "boolean" }, text, options);
}

export function integer(
  text: string,
  { minimum, maximum, ...options }: Options<number> & {
    readonly minimum: number;
    readonly maximum: number;
  },
): Setting<number> {
  return setting({ type: "integer", minimum, maximum }, text, options);
}

export function number(
  text: string,
  { minimum, maximum, ...options }: Options<number> & {
    readonly minimum: number;
    readonly maximum: number;
  },
): Setting<number> {
  return setting({ type: "number", minimum, maximum }, text, options);
}

/** A number that may be left out: null then. */
export function optionalNumber(
  text: string,
  { minimum, maximum, ...options }: Omit<Options<number>, "default"> & {
    readonly minimum: number;
    readonly maximum: number;
  },
): Setting<number | null> {
  return setting<number | null>({ type: "number", minimum, maximum }, text, {
    ...options,
    default: null,
  });
}

interface TextRule {
  readonly pattern: string;
  readonly matches: (text: string) => boolean;
}

/** Any text that is not empty and has no control characters. */
const PLAIN_TEXT: TextRule = {
  pattern: "a text without control characters",
  // deno-lint-ignore no-control-regex -- naming control characters is the purpose
  matches: (text) => text !== "" && !/[\x00-\x1f\x7f-\x9f]/.test(text),
};

export function text(
  description: string,
  { rule = PLAIN_TEXT, ...options }: Options<string> & { readonly rule?: TextRule },
): Setting<string> {
  return setting({ type: "text", maxLength: MAX_TEXT_LENGTH, ...rule }, description, options);
}

/** A text that may be left out: null then. */
export function optionalText(
  description: string,
  { rule = PLAIN_TEXT, ...options }: Omit<Options<string>, "default"> & {
    readonly rule?: TextRule;
  },
): Setting<string | null> {
  return setting<string | null>(
    { type: "text", maxLength: MAX_TEXT_LENGTH, ...rule },
    description,
    { ...options, default: null },
  );
}

export function choice<const O extends readonly string[]>(
  description: string,
  { options: choices, ...options }: Options<O[number]> & { readonly options: O },
): Setting<O[number]> {
  return setting({ type: "choice", options: choices }, description, options);
}

export function texts(
  description: string,
  options: Options<readonly string[]>,
): Setting<readonly string[]> {
  return setting({ type: "texts", maxItems: MAX_ITEMS }, description, options);
}

export function textMap(
  description: string,
  options: Options<Readonly<Record<string, string>>>,
): Setting<Readonly<Record<string, string>>> {
  return setting({ type: "text_map", maxItems: MAX_ITEMS }, description, options);
}

/** A URL of a server: http or https, a host, no user information, no query, no fragment. */
export const SERVER_URL: TextRule = {
  pattern: "an http or https URL without user information, query or fragment",
  matches: (value) =>
    /^https?:\/\/(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::\d{1,5})?(?:\/[^\s?#@\\]*)?$/
      .test(value),
};

/** The name of an environment variable. */
export const VARIABLE_NAME: TextRule = {
  pattern: "the name of an environment variable",
  matches: (value) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
};
