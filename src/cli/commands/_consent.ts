import type { FluzoError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { consentItems } from "../../core/settings/consent_items.ts";
import type { Settings } from "../../core/settings/registry.ts";
import { visible } from "../../core/text/visible.ts";
import {
  type ConsentStatus,
  ConsentStore,
  insecureOrigins,
} from "../../runtime/consent/consent_store.ts";
import type { ParsedFlags } from "../command_line.ts";
import { findUserPaths, loadFor, locate, type Location } from "../composition.ts";

/** What the three consent commands work on. */
export interface ConsentSubject {
  readonly location: Location;
  readonly settings: Settings;
  readonly store: ConsentStore;
  readonly status: ConsentStatus;
}

/** The configuration of the workspace and the agreement there is for it. */
export async function consentSubject(
  flags: ParsedFlags,
): Promise<Result<ConsentSubject, FluzoError>> {
  const location = await locate(flags);
  if (!location.ok) return location;
  const config = await loadFor(location.value);
  if (!config.ok) return config;
  const paths = findUserPaths();
  if (!paths.ok) return paths;
  const store = new ConsentStore(paths.value.consent);
  const { settings } = config.value;
  const status = await store.status(location.value.identity, settings);
  if (status.type === "unusable") {
    const { path, reason } = status.problem;
    return err({ type: "storage", reason: "not_private", path, detail: reason });
  }
  return ok({ location: location.value, settings, store, status });
}

/** What one agrees to, word for word, one setting a line. */
export function describeConsent({ location, settings }: ConsentSubject): string {
  const lines = consentItems(settings).filter(({ value }) => value !== null)
    .map(({ key, value }) => `  ${key} = ${visible(JSON.stringify(value))}`);
  const insecure = insecureOrigins(settings).map((origin) =>
    `Warning: ${origin} is another machine and plain HTTP: anybody between can read everything.`
  );
  return [
    `Workspace ${visible(location.root)}`,
    "With this configuration Fluzo may contact these servers, run this command and pass on this:",
    ...lines,
    ...insecure,
    "Commands the model asks for run outside any sandbox once they are permitted.",
    "",
  ].join("\n");
}
