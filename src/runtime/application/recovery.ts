import type { DomainEvent } from "../../core/events/event.ts";
import { FluzoFailure } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import type { IdSource, OperationId } from "../../core/ids.ts";
import type { Clock, Timers } from "../../core/clock.ts";
import { NONE_LEFT, type OperationLeft, sameLeft } from "../../core/left_processes.ts";
import type { EventDraft } from "../../core/events/envelope.ts";
import { UNKNOWN_USAGE } from "../../core/usage.ts";
import { findSurvivors } from "../processes/survivors.ts";
import type {
  JournalCleaner,
  JournalReader,
  JournalWriter,
  Unfinished,
} from "../storage/journal.ts";
import type { Leftover, WorkspaceFiles } from "../workspace/protocol.ts";

/**
 * Writes down what a process that is gone left unfinished: attempts become interrupted, begun
 * operations unknown, dispatched requests uncertain, processes that are still alive
 * named. Only the owner does this, before anything else; nothing is repeated, repaired or signalled.
 * The private names of killed changes are removed where that loses nothing, and the files of sessions
 * that the user deleted.
 *
 * @throws {FluzoFailure} With a storage error.
 */
export async function recordInterrupted(
  journal: JournalReader & JournalWriter & JournalCleaner,
  { clock, ids, files, timers }: {
    readonly clock: Clock;
    readonly ids: IdSource;
    readonly files: WorkspaceFiles;
    readonly timers: Timers;
  },
): Promise<void> {
  while (true) {
    const found = await journal.unfinished();
    if (!found.ok) throw new FluzoFailure(found.error);
    // What cannot be removed stays listed; that is no reason not to begin.
    if (found.value.purged) await journal.removePurged();
    const leftovers = await cleanUpAfter(found.value, files);
    const survivors = await findSurvivors(found.value.processes, timers);
    const events = [
      ...interruptionEvents(found.value, leftovers),
      ...survivorEvents(found.value.processes, survivors),
    ];
    if (events.length === 0) return;
    const drafts = events.map((event): EventDraft => ({
      id: ids.next("event"),
      wallMs: clock.wallMs(),
      context: { sessionId: null, taskId: null, attemptId: null, traceId: null, spanId: null },
      event,
    }));
    const appended = await journal.append(drafts);
    if (!appended.ok) throw new FluzoFailure(appended.error);
    if (!found.value.more) return;
  }
}

/** The events that name processes which outlived their Fluzo, where that is news. */
function survivorEvents(
  recorded: Unfinished["processes"],
  survivors: readonly OperationLeft[],
): readonly DomainEvent[] {
  return survivors.flatMap(({ operationId, left }) => {
    const known = recorded.find(({ id }) => id === operationId)?.left ?? NONE_LEFT;
    return sameLeft(known, left) ? [] : [{ type: "processes_left", operationId, left } as const];
  });
}

/** Removes what killed changes left behind; one line for each that had something. */
async function cleanUpAfter(
  { operations }: Unfinished,
  files: WorkspaceFiles,
): Promise<ReadonlyMap<OperationId, string>> {
  const lines = new Map<OperationId, string>();
  for (const { id, scope, before, after, preImage, afterLoss } of operations) {
    if (scope.type !== "file" || afterLoss !== "unknown") continue;
    const { action, path } = scope;
    const cleaned = await files.call({
      type: "clean_up",
      change: { operationId: id, action, path, before, after, beforeKept: preImage !== null },
    });
    const line = cleaned.ok ? leftoverText(cleaned.value) : describeError(cleaned.error).what;
    if (line !== null) lines.set(id, line);
  }
  return lines;
}

function leftoverText(leftover: Leftover): string | null {
  switch (leftover.type) {
    case "none":
      return null;
    case "removed":
      return "its temporary file was removed";
    case "kept":
      return `a content that nothing else has is kept in "${leftover.name}"`;
  }
}

/** The events that turn what is unfinished into what is known of it. */
export function interruptionEvents(
  found: Unfinished,
  leftovers: ReadonlyMap<OperationId, string>,
): readonly DomainEvent[] {
  const events: DomainEvent[] = [];
  const open = new Set(found.attempts.map(({ id }) => id));
  for (const operation of found.operations) {
    const operationId = operation.id;
    // Asked for by an attempt that ended properly: it waits for the user's answer.
    if (operation.state === "requested" && !open.has(operation.attemptId)) continue;
    if (operation.afterLoss === "unknown") {
      events.push({
        type: "operation_unknown",
        operationId,
        detail: ["the process ended before the outcome was recorded", leftovers.get(operationId)]
          .filter((part) => part !== undefined).join("; "),
      });
    } else if (operation.afterLoss === "cancelled") {
      events.push({ type: "operation_cancelled", operationId, reason: "cancelled" });
    }
  }
  for (const request of found.requests) {
    if (request.state !== "reserved" && request.state !== "dispatched") continue;
    events.push({
      type: "request_ended",
      requestId: request.id,
      outcome: request.state === "reserved" ? "cancelled_before_dispatch" : "uncertain",
      usage: UNKNOWN_USAGE,
      rawFinish: null,
      error: null,
    });
  }
  for (const message of found.messages) {
    const text = message.text;
    events.push({
      type: "message_completed",
      messageId: message.id,
      message: { role: "assistant", text, reasoning: "", toolCalls: [], end: "incomplete" },
      end: "incomplete",
    });
  }
  for (const grant of found.grants) {
    events.push({ type: "grant_ended", grantId: grant.id, state: "expired" });
  }
  for (const attempt of found.attempts) {
    events.push({
      type: "attempt_ended",
      attemptId: attempt.id,
      outcome: "interrupted",
      error: null,
    });
  }
  for (const task of found.tasks) {
    const blocked = { type: "task_moved", to: "blocked", reason: "interrupted" } as const;
    switch (task.state) {
      case "ready":
        events.push({
          type: "task_moved",
          taskId: task.id,
          from: "ready",
          to: "running",
          reason: null,
        });
        events.push({ ...blocked, taskId: task.id, from: "running" });
        break;
      case "running":
      case "waiting":
      case "stopping":
        events.push({ ...blocked, taskId: task.id, from: task.state });
        break;
      case "pending":
      case "blocked":
      case "completed":
      case "failed":
      case "cancelled":
        break;
    }
  }
  return events;
}
