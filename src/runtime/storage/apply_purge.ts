import type { DomainEvent } from "../../core/events/event.ts";
import { type Applying, NO_OWNER, type Owner, reject } from "./_applying.ts";
import { readPurgePreview, SESSION_ARTIFACTS, SESSION_EVENTS } from "./read_history.ts";

/** Rows of a session, children before what they refer to. Every statement takes the session's id. */
const DELETIONS: readonly string[] = [
  // The records first, the files afterwards: what is cut off in between is finished by the next.
  `INSERT INTO artifact_deletions (id, size_bytes) SELECT a.id, a.size_bytes ${SESSION_ARTIFACTS}`,
  `DELETE ${SESSION_EVENTS}`,
  "DELETE FROM message_chunks WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?)",
  "DELETE FROM messages WHERE session_id = ?",
  ofTasks("observations"),
  `DELETE FROM operation_artifacts WHERE operation_id IN
     (SELECT id FROM operations WHERE task_id IN (SELECT id FROM tasks WHERE session_id = ?))`,
  ofTasks("operations"),
  ofTasks("permission_grants"),
  ofTasks("provider_requests"),
  ofTasks("attempts"),
  "DELETE FROM artifacts WHERE id IN (SELECT id FROM artifact_deletions)",
  // What another session still refers to stays, and belongs to no task any more.
  "UPDATE artifacts SET task_id = NULL WHERE task_id IN (SELECT id FROM tasks WHERE session_id = ?)",
  "DELETE FROM tasks WHERE session_id = ?",
  "DELETE FROM sessions WHERE id = ?",
  `DELETE FROM config_snapshots WHERE id NOT IN (SELECT snapshot_id FROM attempts)`,
];

function ofTasks(table: string): string {
  return `DELETE FROM ${table} WHERE task_id IN (SELECT id FROM tasks WHERE session_id = ?)`;
}

/**
 * Deletes a session with all that belongs to it. Refused while a task of it is at work or processes
 * of it may be alive, and when it does not hold what was shown to the user.
 */
export function applyPurge(
  at: Applying,
  event: Extract<DomainEvent, { type: "history_purged" }>,
): Owner {
  const { statements } = at;
  const { sessionId, contents } = event;
  const preview = readPurgePreview(statements, sessionId);
  if (preview === null) reject(at, `Cannot find session "${sessionId}"`);
  if (preview.kept !== null) {
    reject(at, `Cannot delete session "${sessionId}": task "${preview.kept.taskId}" needs it`);
  }
  if (JSON.stringify(preview.contents) !== JSON.stringify(contents)) {
    reject(at, `Cannot delete session "${sessionId}": it does not hold what was shown`);
  }
  for (const sql of DELETIONS) {
    if (sql.includes("?")) statements.run(sql, sessionId);
    else statements.run(sql);
  }
  return NO_OWNER;
}
