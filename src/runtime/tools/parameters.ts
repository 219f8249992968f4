import { err, ok, type Result } from "../../core/result.ts";

/**
 * The flat parameter objects tools take: one declaration gives the JSON Schema that the model sees,
 * the check of what it sent, and the type of what the tool receives.
 */
type Field =
  | { readonly type: "string"; readonly text: string; readonly optional?: true }
  | {
    readonly type: "integer";
    readonly text: string;
    readonly minimum: number;
    readonly maximum: number;
    readonly optional?: true;
  }
  | { readonly type: "boolean"; readonly text: string; readonly optional?: true }
  | { readonly type: "strings"; readonly text: string; readonly optional?: true }
  | {
    readonly type: "choice";
    readonly text: string;
    readonly options: readonly string[];
    readonly optional?: true;
  };

/** The parameters of one tool, by name. */
export type Fields = Readonly<Record<string, Field>>;

type Value<F extends Field> = F extends { readonly type: "strings" } ? readonly string[]
  : F extends { readonly type: "integer" } ? number
  : F extends { readonly type: "boolean" } ? boolean
  : F extends { readonly options: readonly (infer Option)[] } ? Option
  : string;

/** What a tool receives: an optional parameter that was left out is null. */
export type Arguments<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends { readonly optional: true } ? Value<F[K]> | null
    : Value<F[K]>;
};

/** The JSON Schema of `fields`. */
export function toJsonSchema(fields: Fields): Readonly<Record<string, unknown>> {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    properties[name] = fieldSchema(field);
    if (field.optional !== true) required.push(name);
  }
  return { type: "object", properties, required, additionalProperties: false };
}

function fieldSchema(field: Field): Readonly<Record<string, unknown>> {
  const description = field.text;
  switch (field.type) {
    case "string":
    case "boolean":
      return { type: field.type, description };
    case "integer":
      return { type: "integer", description, minimum: field.minimum, maximum: field.maximum };
    case "strings":
      return { type: "array", items: { type: "string" }, description };
    case "choice":
      return { type: "string", enum: field.options, description };
  }
}

/**
 * Checks the arguments of a call. Null stands for a parameter left out, and an unknown parameter is
 * refused, since it shows that the model means something the tool does not do.
 *
 * @returns The arguments, or one sentence for the model that names the parameter and what is wrong.
 */
export function parseArguments<F extends Fields>(
  fields: F,
  value: unknown,
): Result<Arguments<F>, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return err("The arguments must be one JSON object");
  }
  const given = new Map(Object.entries(value));
  const parsed: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const raw: unknown = given.get(name) ?? null;
    given.delete(name);
    if (raw === null) {
      if (field.optional !== true) return err(`Missing argument "${name}": ${field.text}`);
      parsed[name] = null;
      continue;
    }
    const checked = parseField(field, raw);
    if (!checked.ok) return err(`Invalid argument "${name}": ${checked.error}`);
    parsed[name] = checked.value;
  }
  const unknown = [...given.keys()][0];
  if (unknown !== undefined) {
    return err(`Unknown argument "${unknown}": this tool takes ${Object.keys(fields).join(", ")}`);
  }
  return ok(parsed as Arguments<F>);
}

function parseField(field: Field, raw: unknown): Result<unknown, string> {
  switch (field.type) {
    case "string":
      return typeof raw === "string" ? ok(raw) : err("expected a string");
    case "boolean":
      // Small models often write booleans and numbers as strings; the meaning is not in doubt.
      if (raw === true || raw === "true") return ok(true);
      return raw === false || raw === "false" ? ok(false) : err("expected true or false");
    case "integer": {
      const number = typeof raw === "string" && /^-?\d+$/.test(raw) ? Number(raw) : raw;
      if (typeof number !== "number" || !Number.isInteger(number)) {
        return err("expected a whole number");
      }
      return number >= field.minimum && number <= field.maximum
        ? ok(number)
        : err(`expected ${field.minimum} to ${field.maximum}`);
    }
    case "strings":
      return Array.isArray(raw) && raw.every((item) => typeof item === "string")
        ? ok(raw)
        : err("expected an array of strings");
    case "choice":
      return typeof raw === "string" && field.options.includes(raw)
        ? ok(raw)
        : err(`expected one of ${field.options.join(", ")}`);
  }
}
