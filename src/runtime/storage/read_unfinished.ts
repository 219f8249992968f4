import { type LeftProcesses, NONE_LEFT, type ProcessIdentity } from "../../core/left_processes.ts";
import { OPERATION_STATES, operationAfterLoss } from "../../core/lifecycle/operation.ts";
import { REQUEST_STATES } from "../../core/lifecycle/request.ts";
import { TASK_REASONS, TASK_STATES } from "../../core/lifecycle/task.ts";
import type { Unfinished } from "./journal.ts";
import { committedText } from "./read_messages.ts";
import type { Row, Statements } from "./statements.ts";

/** Most rows of each list. One owner runs one task, so a crash leaves a handful. */
const MAX_UNFINISHED = 200;

/** Most bytes of incomplete text in one answer; one larger message still comes alone. */
const MAX_UNFINISHED_BYTES = 4 * 1024 * 1024;

const TASKS = `SELECT t.id, t.session_id, t.state, t.reason FROM tasks t
  WHERE t.state IN ('running', 'waiting', 'stopping') OR (t.state = 'ready' AND EXISTS
    (SELECT 1 FROM attempts a WHERE a.task_id = t.id AND a.state = 'open'))
  ORDER BY t.created_sequence LIMIT ?`;
const ATTEMPTS = `SELECT id, task_id, trace_id, instance_id FROM attempts
  WHERE state = 'open' ORDER BY started_sequence LIMIT ?`;
const OPERATIONS = `SELECT id, task_id, attempt_id, tool, state, scope, before_version,
    after_version, pre_image FROM operations
  WHERE state IN ('requested', 'authorized', 'intent_committed', 'dispatched')
  ORDER BY requested_sequence LIMIT ?`;
const REQUESTS = `SELECT id, task_id, attempt_id, capacity_id, pool, state FROM provider_requests
  WHERE state IN ('reserved', 'dispatched') ORDER BY reserved_sequence LIMIT ?`;
const PROCESSES = `SELECT o.id, o.pid, o.start_ticks, o.boot_id, o.left_running FROM operations o
  WHERE o.left_running IS NOT NULL OR (o.attempt_id IN
    (SELECT id FROM attempts WHERE state = 'open') AND (o.pid IS NOT NULL OR o.state = 'dispatched'))
  ORDER BY o.requested_sequence DESC LIMIT ?`;
const MESSAGES = `SELECT id, session_id, task_id, request_id, content_bytes FROM messages
  WHERE state = 'incomplete' ORDER BY started_sequence LIMIT ?`;
// An answer to a task that waits at rest is not unfinished: it waits for the task to be resumed.
const GRANTS = `SELECT g.id, g.task_id FROM permission_grants g JOIN tasks t ON t.id = g.task_id
  WHERE g.state = 'active' AND NOT (g.source = 'approval' AND t.state = 'blocked' AND NOT EXISTS
    (SELECT 1 FROM attempts a WHERE a.task_id = t.id AND a.state = 'open'))
  ORDER BY g.issued_sequence LIMIT ?`;

/** Everything that is open, oldest first, each list within its bound. */
export function readUnfinished(statements: Statements): Unfinished {
  let more = false;
  const list = (sql: string): Row[] => {
    const rows = statements.all(sql, MAX_UNFINISHED + 1);
    more ||= rows.length > MAX_UNFINISHED;
    return rows.slice(0, MAX_UNFINISHED);
  };
  const tasks = list(TASKS).map((row) => ({
    id: row.id("id"),
    sessionId: row.id("session_id"),
    state: row.oneOf("state", TASK_STATES),
    reason: row.textOrNull("reason") === null ? null : row.oneOf("reason", TASK_REASONS),
  } satisfies Unfinished["tasks"][number]));
  const attempts = list(ATTEMPTS).map((row) => ({
    id: row.id("id"),
    taskId: row.id("task_id"),
    traceId: row.text("trace_id"),
    instanceId: row.id("instance_id"),
  } satisfies Unfinished["attempts"][number]));
  const operations = list(OPERATIONS).map((row) => {
    const state = row.oneOf("state", OPERATION_STATES);
    return {
      id: row.id("id"),
      taskId: row.id("task_id"),
      attemptId: row.id("attempt_id"),
      tool: row.text("tool"),
      state,
      afterLoss: operationAfterLoss(state),
      scope: row.json("scope"),
      before: row.idOrNull("before_version"),
      after: row.idOrNull("after_version"),
      preImage: row.idOrNull("pre_image"),
    } satisfies Unfinished["operations"][number];
  });
  const requests = list(REQUESTS).map((row) => ({
    id: row.id("id"),
    taskId: row.id("task_id"),
    attemptId: row.id("attempt_id"),
    capacityId: row.text("capacity_id"),
    pool: row.text("pool"),
    state: row.oneOf("state", REQUEST_STATES),
  } satisfies Unfinished["requests"][number]));
  // Not counted for `more`: what is alive stays in the list.
  const processes = statements.all(PROCESSES, MAX_UNFINISHED).map((row) => ({
    id: row.id("id"),
    first: firstProcess(row),
    left: row.jsonOrNull<LeftProcesses>("left_running") ?? NONE_LEFT,
  } satisfies Unfinished["processes"][number]));
  const texts = messagesWithin(list(MESSAGES));
  const messages = texts.rows.map((row) => ({
    id: row.id("id"),
    sessionId: row.id("session_id"),
    taskId: row.id("task_id"),
    requestId: row.id("request_id"),
    text: committedText(statements, row.id("id")),
  } satisfies Unfinished["messages"][number]));
  const grants = list(GRANTS).map((row) => ({
    id: row.id("id"),
    taskId: row.id("task_id"),
  } satisfies Unfinished["grants"][number]));
  return {
    tasks,
    attempts,
    operations,
    processes,
    requests,
    messages,
    grants,
    purged: statements.first("SELECT EXISTS (SELECT 1 FROM artifact_deletions)") === 1,
    more: more || texts.cut,
  };
}

function firstProcess(row: Row): ProcessIdentity | null {
  const pid = row.integerOrNull("pid");
  if (pid === null) return null;
  return { pid, startTicks: row.text("start_ticks"), bootId: row.text("boot_id") };
}

function messagesWithin(found: readonly Row[]): { rows: readonly Row[]; cut: boolean } {
  let bytes = 0;
  const end = found.findIndex((row, index) => {
    bytes += row.integer("content_bytes");
    return index > 0 && bytes > MAX_UNFINISHED_BYTES;
  });
  return end === -1 ? { rows: found, cut: false } : { rows: found.slice(0, end), cut: true };
}
