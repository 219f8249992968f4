import type { SessionSummary } from "../../core/port/read_models.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection } from "./_inspection.ts";
import { PAGE, readPages } from "./_pages.ts";

/** `fluzo session list`. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const read = await readPages(
    (cursor) => journal.query({ type: "list_sessions", cursor, limit: PAGE }),
    { all: flags.has("all") },
  );
  if (!read.ok) return await failWith(context, read.error);
  const { items: sessions, more } = read.value;
  const others = more ? "There are more: fluzo session list --all\n" : "";
  return await succeedWith(context, {
    text: sessions.length === 0
      ? "There is no session in this workspace yet.\n"
      : sessions.map(line).join("") + others,
    json: { type: "sessions", sessions, more },
  });
}

function line({ id, createdWallMs, tasks, messages, title }: SessionSummary): string {
  const when = new Date(createdWallMs).toISOString().slice(0, 16).replace("T", " ");
  const count = `${tasks} task${tasks === 1 ? "" : "s"}, ${messages} messages`;
  return `${id}  ${when}  ${count.padEnd(22)}  ${safeText(title).trim()}\n`;
}
