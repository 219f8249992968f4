import { ConsentStore } from "../../runtime/consent/consent_store.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext, findUserPaths, locate } from "../composition.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo consent revoke`: works also when the configuration is broken or gone. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const paths = findUserPaths();
  if (!paths.ok) return await failWith(context, paths.error);
  const had = await new ConsentStore(paths.value.consent).revoke(location.value.identity);
  return await succeedWith(context, {
    text: had ? "Your agreement is taken back.\n" : "There was no agreement for this workspace.\n",
    json: { type: "consent", workspace: location.value.root, status: "missing", revoked: had },
  });
}
