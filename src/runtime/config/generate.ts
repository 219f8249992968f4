import { stringify } from "smol-toml";
import { SCHEMA_VERSION } from "../../core/settings/registry.ts";

/** What `fluzo init` is told. Everything else is left to its default, so that the file stays short. */
export interface InitChoices {
  readonly projectName: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly contextWindow: number;
  /** Name of the variable with the key; null for a server without authentication. */
  readonly apiKeyEnv: string | null;
  /** Argument vector; empty for none. */
  readonly verification: readonly string[];
}

/** The text of a new configuration file. */
export function generateConfig(choices: InitChoices): string {
  const auth = choices.apiKeyEnv === null
    ? { auth: "none" }
    : { auth: "env", api_key_env: choices.apiKeyEnv };
  const tables: Record<string, unknown> = {
    project: { name: choices.projectName },
    agent: { model: "coder" },
    models: {
      coder: {
        provider: "openai_compatible",
        base_url: choices.baseUrl,
        model: choices.model,
        ...auth,
        context_window: choices.contextWindow,
        pool: "local_server",
      },
    },
    capacity_pools: { local_server: { max_in_flight: 1 } },
    ...(choices.verification.length === 0 ? {} : { verify: { command: choices.verification } }),
  };
  return [
    "# Fluzo's settings for this workspace. Data only; secrets never belong here.",
    "# All keys and their defaults: docs/configuration.md, or `fluzo config show --effective`.",
    `schema_version = ${SCHEMA_VERSION}`,
    "",
    stringify(tables).trimEnd(),
    "",
  ].join("\n");
}
