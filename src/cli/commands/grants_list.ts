import type { GrantDetail } from "../../core/port/read_models.ts";
import { parseId, type TaskId } from "../../core/ids.ts";
import { describeGrantKey } from "../../core/policy/grant_text.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection } from "./_inspection.ts";
import { PAGE, readPages } from "./_pages.ts";

/** `fluzo grants list`: what was allowed, by whom, for how long, and what became of it. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const named = flags.text("task");
  const taskId: TaskId | null = named === null ? null : parseId("task", named);
  if (named !== null && taskId === null) {
    return await failWith(context, { type: "not_found", what: "task", id: named });
  }
  const opened = await openInspection(flags);
  if (!opened.ok) return await failWith(context, opened.error);
  await using journal = opened.value;
  const read = await readPages(
    (cursor) => journal.query({ type: "list_grants", taskId, cursor, limit: PAGE }),
    { all: flags.has("all") },
  );
  if (!read.ok) return await failWith(context, read.error);
  const { items: grants, more } = read.value;
  return await succeedWith(context, {
    text: grants.length === 0
      ? "Nothing was granted here yet\n"
      : grants.map(line).join("") + (more ? "(older ones with --all)\n" : ""),
    json: { type: "grants", grants, more },
  });
}

function line(grant: GrantDetail): string {
  const lasts = grant.lifetime === "once" ? "once" : "for its task";
  const used = grant.usedBy === null ? "" : ` by ${grant.usedBy}`;
  return `${grant.id}  ${grant.state}${used}  ${lasts}, ${SOURCES[grant.source]}  ` +
    `${new Date(grant.issuedWallMs).toISOString()}  ${grant.taskId}\n` +
    `  ${safeText(describeGrantKey(grant))}\n`;
}

const SOURCES: Readonly<Record<GrantDetail["source"], string>> = {
  command_line: "on the command line",
  approval: "as an answer",
  configured: "by the consented configuration",
};
