import type { Settings } from "../../core/settings/registry.ts";
import { ConsentStore } from "../../runtime/consent/consent_store.ts";
import { PROXY_VARIABLES } from "../../runtime/providers/proxy_environment.ts";
import { findUserPaths, loadFor, type Location, readVariable } from "../composition.ts";
import type { Wanted } from "./check_permissions.ts";
import { failure, type Finding, good, note, problem } from "./finding.ts";

/** What the configuration is, and what it needs of the runtime. */
export interface ConfigurationCheck {
  readonly findings: readonly Finding[];
  readonly wanted: Wanted;
}

/** Reads the configuration as a task would. Contacts nothing. */
export async function checkConfiguration(location: Location): Promise<ConfigurationCheck> {
  const config = await loadFor(location);
  if (!config.ok) {
    return {
      findings: [failure("configuration", config.error)],
      wanted: { hosts: [], variables: [] },
    };
  }
  const { settings, path } = config.value;
  const urls = Object.values(settings.models).map(endpointOf);
  const keys = Object.values(settings.models).flatMap(({ api_key_env: name }) => name ?? []);
  return {
    findings: [
      good("configuration", path),
      ...Object.entries(settings.models).map(([id, model]) =>
        good(`models.${id}`, `${endpointOf(model).origin}, direct`)
      ),
      ...checkProxy(),
      ...keys.filter((name) => isUnset(readVariable(name))).map((name) =>
        problem("credentials", `${name} is not set`, `Set ${name} to the key of the server`)
      ),
      await checkConsent(location, settings),
    ],
    wanted: {
      hosts: [...new Set(urls.map(({ host }) => host))],
      variables: [...new Set([...keys, ...settings.tools.shell.inherit_env])],
    },
  };
}

function endpointOf(model: Settings["models"][string]): URL {
  return new URL(model.provider === "openai_compatible" ? model.base_url : model.endpoint);
}

function isUnset(value: ReturnType<typeof readVariable>): boolean {
  return value === null || value === "";
}

/** Only their names: the values of such variables often hold passwords. */
function checkProxy(): Finding[] {
  const set = PROXY_VARIABLES.filter((name) => !isUnset(readVariable(name)));
  return set.length === 0
    ? []
    : [note("proxy", `${set.join(", ")} in your environment: not used, every request goes direct`)];
}

async function checkConsent({ identity }: Location, settings: Settings): Promise<Finding> {
  const paths = findUserPaths();
  if (!paths.ok) return failure("consent", paths.error);
  const status = await new ConsentStore(paths.value.consent).status(identity, settings);
  switch (status.type) {
    case "granted":
      return good("consent", "you agreed to exactly this configuration");
    case "missing":
    case "changed":
    case "insecure":
      return problem(
        "consent",
        status.type === "changed"
          ? `the configuration changed since you agreed: ${status.changed.join(", ")}`
          : "you have not agreed to this configuration here",
        "Run `fluzo consent show`, then `fluzo consent grant`",
      );
    case "unusable":
      return problem("consent", `${status.problem.path} cannot be used`, status.problem.reason);
  }
}
