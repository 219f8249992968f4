import type { Settings } from "../../core/settings/registry.ts";
import { type CredentialSources, resolveCredential } from "./credentials.ts";

/**
 * The keys of a configuration that can be had now, to take them out of a text. One that cannot be
 * had has no value that could be in it.
 */
export async function knownSecrets(
  settings: Settings,
  sources: CredentialSources,
): Promise<readonly string[]> {
  const secrets: string[] = [];
  for (const [id, model] of Object.entries(settings.models)) {
    if (model.provider !== "openai_compatible") continue;
    const origin = new URL(model.base_url).origin;
    const secret = await resolveCredential(id, { model, origin, sources });
    if (secret.ok && secret.value !== null) secrets.push(secret.value);
  }
  return secrets;
}
