import type { FluzoError } from "../../core/errors.ts";
import { parseId } from "../../core/ids.ts";
import type { PurgePreview, SessionHistory } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { describeError } from "../../core/error_text.ts";
import { keptError } from "../../runtime/application/history.ts";
import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { openRestingHost, type RestingHost } from "../../runtime/resting_host.ts";
import { listAside } from "../../runtime/storage/set_aside.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import { type CommandContext, commandContext, locate, readVariable } from "../composition.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { describeContents, describeLeftovers, sessionLine } from "./_history.ts";
import { openInspection } from "./_inspection.ts";
import { PAGE, type QuerySource, readPages } from "./_pages.ts";

/** Which sessions are to go, and whether what no record needs goes as well. */
interface Target {
  readonly session: string | null;
  readonly sessions: "one" | "all" | "none";
  readonly leftovers: boolean;
}

interface Candidate extends SessionHistory {
  readonly kept: PurgePreview["kept"];
}

/** `fluzo history purge`: shows what would go, and deletes it with `--yes` only. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const target = parseTarget(flags);
  if (!target.ok) return await failWith(context, target.error);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const aside = listAside(`${location.value.root}/${DATA_DIRECTORY}`);
  if (!flags.has("dry-run") && flags.has("yes")) {
    Deno.permissions.revokeSync({ name: "net" });
    const { root } = location.value;
    const host = await openRestingHost({ root, variable: readVariable });
    if (!host.ok) return await failWith(context, host.error);
    await using journal = host.value;
    return await purge(context, { journal, target: target.value, aside });
  }
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  return await preview(context, { journal, target: target.value, aside });
}

function parseTarget(flags: ParsedFlags): Result<Target, FluzoError> {
  const session = flags.text("session");
  const given = [session !== null, flags.has("all"), flags.has("leftovers")].filter(Boolean).length;
  if (given !== 1) {
    return err({
      type: "usage",
      message: "Say what to delete: --session ID, --all or --leftovers",
      hint: "`fluzo history list` shows what there is",
    });
  }
  if (session !== null && parseId("session", session) === null) {
    return err({ type: "not_found", what: "session", id: session });
  }
  return ok({
    session,
    sessions: session !== null ? "one" : flags.has("all") ? "all" : "none",
    leftovers: session === null,
  });
}

async function preview(
  context: CommandContext,
  { journal, target, aside }: {
    readonly journal: QuerySource;
    readonly target: Target;
    readonly aside: readonly string[];
  },
): Promise<number> {
  const found = await candidates(journal, target);
  if (!found.ok) return await failWith(context, found.error);
  const leftovers = target.leftovers ? await journal.query({ type: "find_leftovers" }) : null;
  if (leftovers !== null && !leftovers.ok) return await failWith(context, leftovers.error);
  const text = [
    "This would be deleted for good:\n",
    ...found.value.map((candidate) => `  ${sessionLine(candidate)}${keptLine(candidate)}`),
    ...(leftovers === null ? [] : describeLeftovers(leftovers.value).map((line) => `  ${line}`)),
    untouched(target, aside),
  ].join("");
  if (context.flags.has("dry-run")) {
    return await succeedWith(context, {
      text,
      json: {
        type: "purge_preview",
        sessions: found.value,
        leftovers: leftovers === null ? null : leftovers.value,
        aside,
      },
    });
  }
  await context.stderr.write(text);
  return await failWith(context, {
    type: "confirmation_required",
    action: "deleting this",
    flag: "--yes (or --dry-run to only look)",
  });
}

async function purge(
  context: CommandContext,
  { journal, target, aside }: {
    readonly journal: RestingHost;
    readonly target: Target;
    readonly aside: readonly string[];
  },
): Promise<number> {
  const found = await candidates(journal, target);
  if (!found.ok) return await failWith(context, found.error);
  const ids = randomIds(systemClock);
  const lines: string[] = [];
  const deleted: string[] = [];
  let problem: FluzoError | null = null;
  for (const { id, contents, kept } of found.value) {
    const removed = kept !== null ? err(keptError(kept)) : await journal.execute({
      type: "purge_session",
      commandId: ids.next("command"),
      sessionId: id,
      seen: contents,
    });
    if (!removed.ok) {
      problem ??= removed.error;
      lines.push(`Kept ${id}: ${describeError(removed.error).what}\n`);
      continue;
    }
    deleted.push(id);
    lines.push(`Deleted ${id}: ${describeContents(contents)}\n`);
    const { left, problem: why } = removed.value;
    if (left > 0) lines.push(`  ${left} files could not be removed yet: ${why}\n`);
  }
  const leftovers = target.leftovers
    ? await journal.execute({ type: "purge_leftovers", commandId: ids.next("command") })
    : null;
  if (leftovers !== null) {
    if (leftovers.ok) {
      lines.push(...describeLeftovers(leftovers.value).map((line) => `Deleted ${line}`));
    } else {
      problem ??= leftovers.error;
    }
  }
  if (problem !== null) {
    await context.stderr.write(lines.join(""));
    return await failWith(context, problem);
  }
  return await succeedWith(context, {
    text: (lines.join("") || "There was nothing to delete.\n") + untouched(target, aside),
    json: {
      type: "purged",
      sessions: deleted,
      leftovers: leftovers !== null && leftovers.ok ? leftovers.value : null,
      aside,
    },
  });
}

/** The sessions that are meant, with what keeps them. */
async function candidates(
  journal: QuerySource,
  { session, sessions }: Target,
): Promise<Result<readonly Candidate[], FluzoError>> {
  if (sessions === "none") return ok([]);
  const all = await readPages(
    (cursor) => journal.query({ type: "list_history", cursor, limit: PAGE }),
    { all: true },
  );
  if (!all.ok) return all;
  const meant = sessions === "all"
    ? all.value.items
    : all.value.items.filter(({ id }) => id === session);
  if (session !== null && meant.length === 0) {
    return err({ type: "not_found", what: "session", id: session });
  }
  const found: Candidate[] = [];
  for (const history of meant) {
    const shown = await journal.query({ type: "preview_purge", sessionId: history.id });
    if (!shown.ok) return shown;
    found.push({ ...history, ...shown.value });
  }
  return ok(found);
}

function keptLine({ kept }: Candidate): string {
  return kept === null ? "" : `    but it is kept: ${describeError(keptError(kept)).what}\n`;
}

/** What stays although one may think it goes as well. */
function untouched({ sessions }: Target, aside: readonly string[]): string {
  return [
    `Not touched: files of the workspace${sessions === "all" ? "" : ", other sessions"}, local ` +
    "diagnostics, your consent, keys and backups of the configuration.\n",
    ...aside.map((name) => `Not touched: ${DATA_DIRECTORY}/${name}, a journal set aside\n`),
  ].join("");
}
