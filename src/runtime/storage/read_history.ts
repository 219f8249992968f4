import type { SessionContents } from "../../core/events/event.ts";
import type { SessionId, TaskId } from "../../core/ids.ts";
import { isTaskAtRest, TASK_STATES } from "../../core/lifecycle/task.ts";
import type { Page, PurgePreview, SessionHistory } from "../../core/port/read_models.ts";
import { type Listing, pageLimit, parseCursor, toPage } from "./read_page.ts";
import type { Statements } from "./statements.ts";

/** Whether an operation of this session, or of another one, refers to artifact `a`. */
function referred(session: "= ?1" | "<> ?1"): string {
  return `(EXISTS (SELECT 1 FROM operations o JOIN tasks t ON t.id = o.task_id
      WHERE o.pre_image = a.id AND t.session_id ${session})
    OR EXISTS (SELECT 1 FROM operation_artifacts oa
      JOIN operations o ON o.id = oa.operation_id JOIN tasks t ON t.id = o.task_id
      WHERE oa.artifact_id = a.id AND t.session_id ${session}))`;
}

/**
 * Artifacts that go with a session: those of its tasks, and those whose own session is gone; never
 * one that an operation of another session refers to.
 */
export const SESSION_ARTIFACTS = `FROM artifacts a
  WHERE (a.task_id IN (SELECT id FROM tasks WHERE session_id = ?1)
    OR (a.task_id IS NULL AND ${referred("= ?1")}))
  AND NOT ${referred("<> ?1")}`;

/** Events of a session. One that names its task alone belongs to it as well. */
export const SESSION_EVENTS = `FROM events WHERE session_id = ?1
  OR task_id IN (SELECT id FROM tasks WHERE session_id = ?1)`;

/** What deleting a session would come to; null for one the journal does not know. */
export function readPurgePreview(
  statements: Statements,
  sessionId: SessionId,
): PurgePreview | null {
  const known = statements.get("SELECT 1 FROM sessions WHERE id = ?", sessionId) !== null;
  if (!known) return null;
  return { contents: contentsOf(statements, sessionId), kept: obstacle(statements, sessionId) };
}

/** The first task of a session that is at work, or that processes of may be alive. */
function obstacle(statements: Statements, sessionId: SessionId): PurgePreview["kept"] {
  const rows = statements.all(
    `SELECT t.id, t.state,
       EXISTS (SELECT 1 FROM attempts a WHERE a.task_id = t.id AND a.state = 'open') AS open,
       EXISTS (SELECT 1 FROM operations o WHERE o.task_id = t.id AND o.left_running IS NOT NULL)
         AS left_running
     FROM tasks t WHERE t.session_id = ? ORDER BY t.created_sequence`,
    sessionId,
  );
  for (const row of rows) {
    const taskId = row.id<TaskId>("id");
    if (row.integer("open") === 1 || !isTaskAtRest(row.oneOf("state", TASK_STATES))) {
      return { taskId, because: "at_work" };
    }
    if (row.integer("left_running") === 1) return { taskId, because: "processes" };
  }
  return null;
}

/** What a session holds, which must exist. */
function contentsOf(statements: Statements, sessionId: SessionId): SessionContents {
  const count = (sql: string): number => statements.get(sql, sessionId)?.integer("n") ?? 0;
  return {
    tasks: count("SELECT count(*) AS n FROM tasks WHERE session_id = ?1"),
    messages: count("SELECT count(*) AS n FROM messages WHERE session_id = ?1"),
    events: count(`SELECT count(*) AS n ${SESSION_EVENTS}`),
    textBytes: count(
      "SELECT coalesce(sum(content_bytes), 0) AS n FROM messages WHERE session_id = ?1",
    ),
    artifacts: count(`SELECT count(*) AS n ${SESSION_ARTIFACTS}`),
    artifactBytes: count(`SELECT coalesce(sum(a.size_bytes), 0) AS n ${SESSION_ARTIFACTS}`),
  };
}

/** Sessions with what they hold, newest first. It counts: for somebody who asks, never for a start. */
export function readHistory(
  statements: Statements,
  { cursor, limit }: Listing,
): Page<SessionHistory> {
  const before = parseCursor(statements, { cursor, first: Number.MAX_SAFE_INTEGER });
  const size = pageLimit(limit);
  const rows = statements.all(
    `SELECT id, title, created_wall_ms, created_sequence FROM sessions
     WHERE created_sequence < ? ORDER BY created_sequence DESC LIMIT ?`,
    before,
    size + 1,
  );
  return toPage(rows, {
    limit: size,
    item: (row) => ({
      id: row.id<SessionId>("id"),
      title: row.text("title"),
      createdWallMs: row.integer("created_wall_ms"),
      contents: contentsOf(statements, row.id("id")),
    }),
    position: (row) => String(row.integer("created_sequence")),
  });
}
