import type { Artifact, Baseline } from "../../core/events/event.ts";
import type { SessionId, TaskId } from "../../core/ids.ts";
import { OPERATION_STATES, type OperationState } from "../../core/lifecycle/operation.ts";
import { isTaskAtRest, TASK_REASONS, TASK_STATES } from "../../core/lifecycle/task.ts";
import type {
  AttemptSummary,
  Page,
  SessionSummary,
  TaskDetail,
  TaskSummary,
} from "../../core/port/read_models.ts";
import { ATTEMPT_STATES } from "./apply_attempt.ts";
import { GRANT_COLUMNS, readGrantRow } from "./read_grants.ts";
import { type Listing, MAX_PAGE_ITEMS, pageLimit, parseCursor, toPage } from "./read_page.ts";
import type { Row, Statements } from "./statements.ts";

const TASK_COLUMNS = `t.id, t.session_id, t.goal, t.state, t.reason, t.created_wall_ms,
  t.updated_wall_ms, t.created_sequence,
  EXISTS (SELECT 1 FROM attempts a WHERE a.task_id = t.id AND a.state = 'open') AS has_open`;

/** Tasks, newest first. */
export function readTasks(
  statements: Statements,
  { cursor, limit, ownerAlive }: Listing & { readonly ownerAlive: boolean },
): Page<TaskSummary> {
  const before = parseCursor(statements, { cursor, first: Number.MAX_SAFE_INTEGER });
  const size = pageLimit(limit);
  const rows = statements.all(
    `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.created_sequence < ?
     ORDER BY t.created_sequence DESC LIMIT ?`,
    before,
    size + 1,
  );
  return toPage(rows, {
    limit: size,
    item: (row) => taskSummary(row, ownerAlive),
    position: (row) => String(row.integer("created_sequence")),
  });
}

/** Sessions, newest first. */
export function readSessions(
  statements: Statements,
  { cursor, limit }: Listing,
): Page<SessionSummary> {
  const before = parseCursor(statements, { cursor, first: Number.MAX_SAFE_INTEGER });
  const size = pageLimit(limit);
  const rows = statements.all(
    `SELECT s.id, s.title, s.created_wall_ms, s.created_sequence,
       (SELECT count(*) FROM tasks t WHERE t.session_id = s.id) AS tasks,
       (SELECT count(*) FROM messages m WHERE m.session_id = s.id) AS messages
     FROM sessions s WHERE s.created_sequence < ? ORDER BY s.created_sequence DESC LIMIT ?`,
    before,
    size + 1,
  );
  return toPage(rows, {
    limit: size,
    item: (row) => ({
      id: row.id<SessionId>("id"),
      title: row.text("title"),
      createdWallMs: row.integer("created_wall_ms"),
      tasks: row.integer("tasks"),
      messages: row.integer("messages"),
    }),
    position: (row) => String(row.integer("created_sequence")),
  });
}

/**
 * One task with all that belongs to it. Its lists are bounded by `MAX_PAGE_ITEMS`, newest kept;
 * operations and events have pages of their own.
 */
export function readTask(
  statements: Statements,
  { id, ownerAlive }: { readonly id: TaskId; readonly ownerAlive: boolean },
): TaskDetail | null {
  const row = statements.get(
    `SELECT ${TASK_COLUMNS}, t.limits, t.consumption, t.verification, t.yolo, t.result
     FROM tasks t WHERE t.id = ?`,
    id,
  );
  if (row === null) return null;
  return {
    ...taskSummary(row, ownerAlive),
    limits: row.json("limits"),
    consumption: row.json("consumption"),
    verification: row.json("verification"),
    yolo: row.integer("yolo") === 1,
    attempts: newest(statements, ATTEMPTS, id).map((found) => attemptSummary(found, ownerAlive)),
    operationCounts: operationCounts(statements, id),
    grants: newest(statements, GRANTS, id).map(readGrantRow),
    artifacts: newest(statements, ARTIFACTS, id).map(artifact),
    baseline: latestBaseline(statements, id),
    result: row.jsonOrNull("result"),
  };
}

const ATTEMPTS = `SELECT id, number, state, trace_id, model, started_wall_ms, ended_wall_ms
  FROM attempts WHERE task_id = ? ORDER BY number DESC LIMIT ?`;
const GRANTS = `SELECT ${GRANT_COLUMNS} FROM permission_grants g
  WHERE g.task_id = ? ORDER BY g.issued_sequence DESC LIMIT ?`;
const ARTIFACTS = `SELECT id, kind, digest, size_bytes, dropped_bytes FROM artifacts
  WHERE task_id = ? ORDER BY recorded_sequence DESC LIMIT ?`;

/** The newest rows of a task, oldest first. */
function newest(statements: Statements, sql: string, id: TaskId): Row[] {
  return statements.all(sql, id, MAX_PAGE_ITEMS).reverse();
}

/** A task that was at work when its owner vanished is interrupted, whatever its row says. */
function taskSummary(row: Row, ownerAlive: boolean): TaskSummary {
  const state = row.oneOf("state", TASK_STATES);
  // A ready task without an attempt has not begun: nothing of it was interrupted.
  const atWork = state === "ready" ? row.integer("has_open") === 1 : !isTaskAtRest(state);
  return {
    id: row.id("id"),
    sessionId: row.id("session_id"),
    goal: row.text("goal"),
    state,
    reason: row.textOrNull("reason") === null ? null : row.oneOf("reason", TASK_REASONS),
    derived: atWork && !ownerAlive ? "interrupted" : null,
    createdWallMs: row.integer("created_wall_ms"),
    updatedWallMs: row.integer("updated_wall_ms"),
  };
}

function attemptSummary(row: Row, ownerAlive: boolean): AttemptSummary {
  const state = row.oneOf("state", ATTEMPT_STATES);
  return {
    id: row.id("id"),
    number: row.integer("number"),
    state,
    derived: state === "open" && !ownerAlive ? "interrupted" : null,
    traceId: row.text("trace_id"),
    model: row.text("model"),
    startedWallMs: row.integer("started_wall_ms"),
    endedWallMs: row.integerOrNull("ended_wall_ms"),
  };
}

function artifact(row: Row): Artifact {
  return {
    id: row.id("id"),
    kind: row.oneOf("kind", ["pre_image", "process_output", "diff"]),
    digest: row.id("digest"),
    sizeBytes: row.integer("size_bytes"),
    droppedBytes: row.integer("dropped_bytes"),
  };
}

function operationCounts(statements: Statements, id: TaskId): Record<OperationState, number> {
  const counts: Record<OperationState, number> = {
    requested: 0,
    authorized: 0,
    intent_committed: 0,
    dispatched: 0,
    known_result: 0,
    unknown: 0,
    denied: 0,
    invalidated: 0,
    cancelled: 0,
  };
  const rows = statements.all(
    "SELECT state, count(*) AS n FROM operations WHERE task_id = ? GROUP BY state",
    id,
  );
  for (const row of rows) counts[row.oneOf("state", OPERATION_STATES)] = row.integer("n");
  return counts;
}

/** What the workspace held before the latest attempt that recorded it. */
function latestBaseline(statements: Statements, id: TaskId): Baseline | null {
  const row = statements.get(
    `SELECT baseline FROM attempts WHERE task_id = ? AND baseline IS NOT NULL
     ORDER BY number DESC LIMIT 1`,
    id,
  );
  return row === null ? null : row.json("baseline");
}
