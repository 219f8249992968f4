import { type FluzoError, FluzoFailure } from "../../core/errors.ts";
import type { Command } from "../../core/port/application.ts";
import type { Leftovers, PurgePreview, RemovedFiles } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { TaskJournal } from "../execution/task_journal.ts";
import type { JournalCleaner, JournalReader } from "../storage/journal.ts";

/** What deleting history works with. */
export interface HistoryServices {
  readonly journal: JournalReader & JournalCleaner;
  /** Writes events that belong to no task. */
  readonly resting: TaskJournal;
}

/** Deletes sessions, by the user's explicit act and never by itself. */
export class History {
  readonly #journal: HistoryServices["journal"];
  readonly #resting: TaskJournal;

  constructor({ journal, resting }: HistoryServices) {
    this.#journal = journal;
    this.#resting = resting;
  }

  /**
   * Deletes a session: its records in one transaction, then its files, then the pages they had.
   * Cut off after the first, the next start goes on with the rest.
   */
  async purge(
    { sessionId, seen }: Extract<Command, { type: "purge_session" }>,
  ): Promise<Result<RemovedFiles, FluzoError>> {
    const preview = await this.#journal.purgePreview(sessionId);
    if (!preview.ok) return preview;
    if (preview.value === null) return err({ type: "not_found", what: "session", id: sessionId });
    const { contents, kept } = preview.value;
    if (kept !== null) return err(keptError(kept));
    if (JSON.stringify(contents) !== JSON.stringify(seen)) {
      return err({ type: "stale_preview", sessionId });
    }
    try {
      await this.#resting.append([{ type: "history_purged", sessionId, contents }]);
    } catch (failure) {
      if (failure instanceof FluzoFailure) return err(failure.error);
      throw failure;
    }
    const removed = await this.#journal.removePurged();
    if (!removed.ok) return removed;
    const compacted = await this.#journal.compact();
    return compacted.ok ? ok(removed.value) : compacted;
  }

  /** Deletes what no record needs. */
  async purgeLeftovers(): Promise<Result<Leftovers, FluzoError>> {
    return await this.#journal.removeLeftovers();
  }
}

/** Why a session is kept, with what to do about it. */
export function keptError({ taskId, because }: NonNullable<PurgePreview["kept"]>): FluzoError {
  return because === "at_work"
    ? {
      type: "wrong_state",
      taskId,
      action: "delete the session of",
      state: "at work",
      remedy: `End it first with \`fluzo task cancel ${taskId}\``,
    }
    : {
      type: "wrong_state",
      taskId,
      action: "delete the session of",
      state: "the only record of processes that may still run",
      remedy: `\`fluzo task show ${taskId}\` names them; once they are gone it can be deleted`,
    };
}
