import type { FluzoError } from "../../core/errors.ts";
import type { Page, SessionSummary } from "../../core/port/read_models.ts";
import type { Result } from "../../core/result.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection } from "./_inspection.ts";

/** Sessions of one page. */
const PAGE = 50;

/** `fluzo session list`. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const sessions: SessionSummary[] = [];
  let cursor: string | null = null;
  do {
    const page: Result<Page<SessionSummary>, FluzoError> = await journal.query({
      type: "list_sessions",
      cursor,
      limit: PAGE,
    });
    if (!page.ok) return await failWith(context, page.error);
    sessions.push(...page.value.items);
    cursor = page.value.next;
  } while (cursor !== null && flags.has("all"));
  const more = cursor === null ? "" : "There are more: fluzo session list --all\n";
  return await succeedWith(context, {
    text: sessions.length === 0
      ? "There is no session in this workspace yet.\n"
      : sessions.map(line).join("") + more,
    json: { type: "sessions", sessions, more: cursor !== null },
  });
}

function line({ id, createdWallMs, tasks, messages, title }: SessionSummary): string {
  const when = new Date(createdWallMs).toISOString().slice(0, 16).replace("T", " ");
  const count = `${tasks} task${tasks === 1 ? "" : "s"}, ${messages} messages`;
  return `${id}  ${when}  ${count.padEnd(22)}  ${safeText(title).trim()}\n`;
}
