import { consentItems } from "../../core/settings/consent_items.ts";
import type { ConsentStatus } from "../../runtime/consent/consent_store.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { consentSubject, describeConsent } from "./_consent.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo consent show`: what the configuration would do, and whether the user agreed. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const subject = await consentSubject(flags);
  if (!subject.ok) return await failWith(context, subject.error);
  const { status, settings, location } = subject.value;
  return await succeedWith(context, {
    text: `${describeConsent(subject.value)}${describeStatus(status)}\n`,
    json: {
      type: "consent",
      workspace: location.root,
      status: status.type,
      fingerprint: status.fingerprint,
      items: consentItems(settings),
      changed: status.type === "changed" ? status.changed : [],
    },
  });
}

function describeStatus(status: ConsentStatus): string {
  switch (status.type) {
    case "granted":
      return "You agreed to exactly this.";
    case "missing":
      return "You have not agreed to this: `fluzo consent grant`.";
    case "changed":
      return `You agreed before, but this changed: ${status.changed.join(", ")}. ` +
        "Agree anew: `fluzo consent grant`.";
    case "insecure":
      return `You have not agreed to plain HTTP to ${status.origin}: ` +
        `\`fluzo consent grant --allow-insecure-http ${status.origin}\`.`;
    case "unusable":
      return `The record of your agreement cannot be used: ${status.problem.reason}.`;
  }
}
