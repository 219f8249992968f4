import { parse, TomlError } from "smol-toml";
import type { ConfigurationInvalidError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { ModelSettings } from "../../core/settings/registry.ts";
import { MIN_SECRET_LENGTH } from "../../core/text/redactor.ts";
import { readPrivateFile } from "./private_file.ts";
import { isObject } from "../../core/json.ts";

/** Largest auth file that is read, in bytes. */
const MAX_AUTH_BYTES = 1 << 20;

/** Where keys can come from. */
export interface CredentialSources {
  /** The configuration file, for messages. */
  readonly configPath: string;
  /** The user's auth file; null when there is no home folder. */
  readonly authPath: string | null;
  /**
   * A variable's value; null when it is unset; "denied" when this process may not read it.
   */
  variable(name: string): string | null | "denied";
}

/**
 * The key for a model's server, or null when it needs none. A key from the auth file is bound to
 * the origin it was stored for and is given to no other.
 */
export async function resolveCredential(
  id: string,
  { model, origin, sources }: {
    readonly model: ModelSettings;
    readonly origin: string;
    readonly sources: CredentialSources;
  },
): Promise<Result<string | null, ConfigurationInvalidError>> {
  const problem = (key: string, reason: string, hint: string | null = null) =>
    err(
      {
        type: "configuration_invalid",
        path: sources.configPath,
        problems: [{ key: `models.${id}.${key}`, reason, hint, line: 0, column: 0 }],
      } as const,
    );
  const checked = (key: string, secret: string) =>
    secret.length < MIN_SECRET_LENGTH
      ? problem(key, `gives a key of less than ${MIN_SECRET_LENGTH} characters, which is too short`)
      : ok(secret);
  switch (model.auth) {
    case "none":
      return ok(null);
    case "env": {
      const name = model.api_key_env ?? "";
      const value = sources.variable(name);
      if (value === "denied") {
        return problem(
          "api_key_env",
          `names ${name}, which this Fluzo may not read`,
          `install it again with ${name} in --allow-env, as \`fluzo doctor\` shows`,
        );
      }
      if (value === null) return problem("api_key_env", `names ${name}, which is not set`);
      if (value.trim() === "") return problem("api_key_env", `names ${name}, which is empty`);
      return checked("api_key_env", value.trim());
    }
    case "credential": {
      const stored = await readStored(model.credential_ref ?? "", sources.authPath);
      if (typeof stored === "string") return problem("credential_ref", stored);
      if (stored.origin !== origin) {
        return problem(
          "credential_ref",
          `names a key for ${stored.origin}, which is not given to ${origin}`,
        );
      }
      return checked("credential_ref", stored.token);
    }
  }
}

async function readStored(
  reference: string,
  path: string | null,
): Promise<{ readonly origin: string; readonly token: string } | string> {
  if (path === null) return "needs a home folder, but HOME is not set";
  const read = await readPrivateFile(path, MAX_AUTH_BYTES);
  if (read === null) return `needs the auth file ${path}, which does not exist`;
  if ("reason" in read) return `needs the auth file ${path}, but ${read.reason}`;
  let file: Record<string, unknown>;
  try {
    file = parse(read.text);
  } catch (failure) {
    if (!(failure instanceof TomlError)) throw failure;
    return `needs the auth file ${path}, which is not TOML (line ${failure.line})`;
  }
  const entries = file["credentials"];
  const entry = isObject(entries) && Object.hasOwn(entries, reference) ? entries[reference] : null;
  if (!isObject(entry)) return `names "${reference}", which is not in the auth file`;
  const { origin, token } = entry;
  if (typeof origin !== "string" || typeof token !== "string") {
    return `names "${reference}", which needs an origin and a token in the auth file`;
  }
  return { origin, token };
}
