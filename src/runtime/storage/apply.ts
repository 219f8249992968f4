import type { DomainEvent } from "../../core/events/event.ts";
import { EVENT_SCHEMA_VERSION, type EventDraft } from "../../core/events/envelope.ts";
import { recordedEvent } from "../../core/events/recorded.ts";
import { type Applying, type Owner, reject } from "./_applying.ts";
import { applyArtifact } from "./apply_artifact.ts";
import { applyAttempt } from "./apply_attempt.ts";
import { applyGrant } from "./apply_grant.ts";
import { applyPurge } from "./apply_purge.ts";
import { applyMessage } from "./apply_message.ts";
import { applyOperation } from "./apply_operation.ts";
import { applyRequest } from "./apply_request.ts";
import { applyTask } from "./apply_task.ts";
import { applyWorkspace } from "./apply_workspace.ts";
import { fail } from "./storage_failure.ts";
import type { Statements } from "./statements.ts";

/**
 * Applies a batch: every event to its tables and to the journal, in one transaction. The order
 * within the batch is the order of the sequence. A refused event leaves nothing of the batch.
 *
 * @returns The sequence of the last event in the journal.
 */
export function applyBatch(statements: Statements, drafts: readonly EventDraft[]): number {
  return statements.transaction("BEGIN IMMEDIATE", () => {
    const head = statements.get("SELECT last_sequence FROM journal_head WHERE id = 1");
    if (head === null) fail("corrupt", statements.path, "The journal has lost its head record");
    let sequence = head.integer("last_sequence");
    for (const draft of drafts) {
      sequence++;
      applyDraft(statements, { draft, sequence });
    }
    return sequence;
  });
}

function applyDraft(
  statements: Statements,
  { draft, sequence }: { readonly draft: EventDraft; readonly sequence: number },
): void {
  const { event, context, wallMs } = draft;
  const at: Applying = { statements, sequence, wallMs, contextTaskId: context.taskId };
  const owner = applyEvent(at, event);
  const sessionId = oneOwner(at, "session", [owner.sessionId, context.sessionId]);
  const taskId = oneOwner(at, "task", [owner.taskId, context.taskId]);
  const attemptId = oneOwner(at, "attempt", [owner.attemptId, context.attemptId]);
  statements.run(
    `INSERT INTO events (sequence, id, schema_version, type, wall_ms, session_id, task_id,
       attempt_id, trace_id, span_id, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    sequence,
    draft.id,
    EVENT_SCHEMA_VERSION,
    event.type,
    wallMs,
    sessionId,
    taskId,
    attemptId,
    context.traceId,
    context.spanId,
    JSON.stringify(recordedEvent(event)),
  );
}

/** What the event implies and what its context says must not contradict each other. */
function oneOwner(
  at: Applying,
  what: string,
  [implied, given]: readonly [string | null, string | null],
): string | null {
  if (implied !== null && given !== null && implied !== given) {
    reject(at, `Cannot file an event of ${what} "${implied}" under ${what} "${given}"`);
  }
  return implied ?? given;
}

function applyEvent(at: Applying, event: DomainEvent): Owner {
  switch (event.type) {
    case "workspace_recorded":
    case "session_created":
    case "config_recorded":
      return applyWorkspace(at, event);
    case "task_created":
    case "task_moved":
    case "task_ended":
    case "budget_consumed":
    case "limits_extended":
    case "yolo_set":
    case "intervention_queued":
    case "intervention_edited":
    case "intervention_removed":
    case "intervention_consumed":
    case "cancel_requested":
    case "force_stop_requested":
      return applyTask(at, event);
    case "attempt_started":
    case "attempt_ended":
    case "baseline_recorded":
      return applyAttempt(at, event);
    case "message_recorded":
    case "message_started":
    case "message_checkpointed":
    case "message_completed":
      return applyMessage(at, event);
    case "request_reserved":
    case "request_dispatched":
    case "request_ended":
      return applyRequest(at, event);
    case "operation_requested":
    case "operation_authorized":
    case "operation_denied":
    case "operation_intended":
    case "operation_dispatched":
    case "process_started":
    case "processes_left":
    case "operation_finished":
    case "operation_unknown":
    case "operation_settled":
    case "operation_cancelled":
    case "verification_ended":
      return applyOperation(at, event);
    case "grant_issued":
    case "grant_ended":
      return applyGrant(at, event);
    case "artifact_recorded":
      return applyArtifact(at, event);
    case "history_purged":
      return applyPurge(at, event);
  }
}
