import { describeError } from "../../core/error_text.ts";
import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { findDamage, setAside } from "../../runtime/storage/set_aside.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import { WorkspaceOwnership } from "../../runtime/workspace/ownership.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext, locate } from "../composition.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** `fluzo history set-aside --yes`: keeps a damaged journal, so that a new one can begin. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  for (const name of ["net", "run"] as const) Deno.permissions.revokeSync({ name });
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const { root } = location.value;
  const directory = `${root}/${DATA_DIRECTORY}`;
  const looked = await findDamage(directory);
  if (!looked.ok) return await failWith(context, looked.error);
  if (looked.value === null) {
    return await failWith(context, {
      type: "usage",
      message: "The journal of this workspace is whole: there is nothing to set aside",
      hint: "`fluzo history purge` deletes sessions, `fluzo history list` shows them",
    });
  }
  const damage = describeError(looked.value).what;
  if (!flags.has("yes")) {
    await context.stderr.write(
      `${damage}\nIt would be moved into a folder beside it, whole; nothing is deleted, and its ` +
        "tasks can no longer be looked at or gone on with here.\n",
    );
    return await failWith(context, {
      type: "confirmation_required",
      action: "beginning a new journal",
      flag: "--yes",
    });
  }
  const owned = await WorkspaceOwnership.acquire(directory, {
    workspace: root,
    wallMs: systemClock.wallMs(),
    instanceId: randomIds(systemClock).next("instance"),
  });
  if (!owned.ok) return await failWith(context, owned.error);
  const moved = setAside(directory, { wallMs: systemClock.wallMs() });
  owned.value.release();
  if (!moved.ok) return await failWith(context, moved.error);
  return await succeedWith(context, {
    text: `${damage}\nIt is kept in ${moved.value}\nThe next task begins a new journal.\n`,
    json: { type: "set_aside", kept_in: moved.value },
  });
}
