import { insecureOrigins } from "../../runtime/consent/consent_store.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { consentSubject, describeConsent } from "./_consent.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo consent grant`: agrees to exactly what it shows. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const subject = await consentSubject(flags);
  if (!subject.ok) return await failWith(context, subject.error);
  const { store, location, settings, status } = subject.value;
  const accepted = flags.texts("allow-insecure-http");
  const needed = insecureOrigins(settings).find((origin) => !accepted.includes(origin));
  if (needed !== undefined) {
    return await failWith(context, {
      type: "confirmation_required",
      action: `agreeing to plain HTTP to ${needed}, which anybody between can read,`,
      flag: `--allow-insecure-http ${needed}`,
    });
  }
  await store.grant(location.identity, { settings, insecureOrigins: accepted });
  return await succeedWith(context, {
    text: `${describeConsent(subject.value)}You agreed to this, in this workspace only.\n`,
    json: {
      type: "consent",
      workspace: location.root,
      status: "granted",
      fingerprint: status.fingerprint,
    },
  });
}
