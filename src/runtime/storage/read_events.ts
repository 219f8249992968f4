import { EVENT_SCHEMA_VERSION, type EventEnvelope } from "../../core/events/envelope.ts";
import type { TaskId } from "../../core/ids.ts";
import type { Page } from "../../core/port/read_models.ts";
import { MAX_PAGE_BYTES, pageLimit } from "./read_page.ts";
import { fail } from "./storage_failure.ts";
import type { Row, Statements } from "./statements.ts";

/** Events of a task in sequence. `next` is the sequence to go on after. */
export function readEvents(
  statements: Statements,
  { taskId, afterSequence, limit }: {
    readonly taskId: TaskId;
    readonly afterSequence: number;
    readonly limit: number;
  },
): Page<EventEnvelope> {
  const size = pageLimit(limit);
  const sizes = statements.all(
    `SELECT sequence, octet_length(payload) AS bytes FROM events
     WHERE task_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
    taskId,
    afterSequence,
    size + 1,
  );
  let last: number | null = null;
  let count = 0;
  let bytes = 0;
  for (const row of sizes.slice(0, size)) {
    bytes += row.integer("bytes");
    if (count > 0 && bytes > MAX_PAGE_BYTES) break;
    last = row.integer("sequence");
    count++;
  }
  if (last === null) return { items: [], next: null };
  const rows = statements.all(
    `SELECT sequence, id, schema_version, wall_ms, session_id, task_id, attempt_id, trace_id,
       span_id, payload
     FROM events WHERE task_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence`,
    taskId,
    afterSequence,
    last,
  );
  return {
    items: rows.map((row) => envelope(statements, row)),
    next: count < sizes.length ? String(last) : null,
  };
}

function envelope(statements: Statements, row: Row): EventEnvelope {
  const schemaVersion = row.integer("schema_version");
  if (schemaVersion > EVENT_SCHEMA_VERSION) {
    fail(
      "newer_schema",
      statements.path,
      `Event ${row.integer("sequence")} has version ${schemaVersion}, this Fluzo knows ` +
        `${EVENT_SCHEMA_VERSION}: update Fluzo`,
    );
  }
  return {
    schemaVersion,
    sequence: row.integer("sequence"),
    id: row.id("id"),
    wallMs: row.integer("wall_ms"),
    context: {
      sessionId: row.idOrNull("session_id"),
      taskId: row.idOrNull("task_id"),
      attemptId: row.idOrNull("attempt_id"),
      traceId: row.textOrNull("trace_id"),
      spanId: row.textOrNull("span_id"),
    },
    event: row.json("payload"),
  };
}
