import type { ArtifactId, OperationId, SessionId, TaskId } from "../../core/ids.ts";
import { type LeftProcesses, NONE_LEFT } from "../../core/left_processes.ts";
import { OPERATION_STATES, operationAfterLoss } from "../../core/lifecycle/operation.ts";
import type { OperationDetail, Page } from "../../core/port/read_models.ts";
import { MAX_PAGE_ITEMS, pageLimit, toPage } from "./read_page.ts";
import { fail } from "./storage_failure.ts";
import type { Row, Statements } from "./statements.ts";

const COLUMNS = `o.id, o.attempt_id, o.call_id, o.tool, o.scope, o.state, o.outcome, o.summary,
  o.exit_code, o.pid, o.pre_image, o.before_version, o.after_version, o.left_running`;

/** Operations of a session that calls led to, in the order they were requested. */
export function readCallOperations(
  statements: Statements,
  { sessionId, callIds, ownerAlive }: {
    readonly sessionId: SessionId;
    /** At most `MAX_PAGE_ITEMS`; further ones are not looked for. */
    readonly callIds: readonly string[];
    readonly ownerAlive: boolean;
  },
): readonly OperationDetail[] {
  const rows = statements.all(
    `SELECT ${COLUMNS} FROM operations o JOIN tasks t ON t.id = o.task_id
     WHERE t.session_id = ? AND o.call_id IN (SELECT value FROM json_each(?))
     ORDER BY o.requested_sequence LIMIT ?`,
    sessionId,
    JSON.stringify(callIds.slice(0, MAX_PAGE_ITEMS)),
    MAX_PAGE_ITEMS,
  );
  return rows.map((row) => operationDetail(row, { statements, ownerAlive }));
}

/** One operation by its id, with the task it belongs to. */
export function readOperation(
  statements: Statements,
  { id, ownerAlive }: { readonly id: OperationId; readonly ownerAlive: boolean },
): { readonly taskId: TaskId; readonly operation: OperationDetail } | null {
  const row = statements.get(
    `SELECT ${COLUMNS}, o.task_id FROM operations o WHERE o.id = ?`,
    id,
  );
  return row === null ? null : {
    taskId: row.id("task_id"),
    operation: operationDetail(row, { statements, ownerAlive }),
  };
}

/** Operations of a task in the order they were requested, after the one named. */
export function readOperations(
  statements: Statements,
  { taskId, after, limit, ownerAlive }: {
    readonly taskId: TaskId;
    readonly after: OperationId | null;
    readonly limit: number;
    readonly ownerAlive: boolean;
  },
): Page<OperationDetail> {
  const size = pageLimit(limit);
  const rows = statements.all(
    `SELECT ${COLUMNS} FROM operations o WHERE o.task_id = ? AND o.requested_sequence > ?
     ORDER BY o.requested_sequence LIMIT ?`,
    taskId,
    after === null ? 0 : sequenceOf(statements, after),
    size + 1,
  );
  return toPage(rows, {
    limit: size,
    item: (row) => operationDetail(row, { statements, ownerAlive }),
    position: (row) => row.text("id"),
  });
}

function operationDetail(
  row: Row,
  { statements, ownerAlive }: { readonly statements: Statements; readonly ownerAlive: boolean },
): OperationDetail {
  const id: OperationId = row.id("id");
  const state = row.oneOf("state", OPERATION_STATES);
  const after = operationAfterLoss(state);
  const artifacts = statements.all(
    "SELECT artifact_id FROM operation_artifacts WHERE operation_id = ? ORDER BY position",
    id,
  );
  return {
    id,
    attemptId: row.id("attempt_id"),
    callId: row.text("call_id"),
    tool: row.text("tool"),
    scope: row.json("scope"),
    state,
    derived: ownerAlive || after === state ? null : after,
    outcome: row.textOrNull("outcome") === null
      ? null
      : row.oneOf<NonNullable<OperationDetail["outcome"]>>("outcome", [
        "ok",
        "error",
        "interrupted",
      ]),
    summary: row.text("summary"),
    exitCode: row.integerOrNull("exit_code"),
    pid: row.integerOrNull("pid"),
    before: row.idOrNull("before_version"),
    after: row.idOrNull("after_version"),
    preImage: row.idOrNull("pre_image"),
    artifacts: artifacts.map((found) => found.id<ArtifactId>("artifact_id")),
    left: row.jsonOrNull<LeftProcesses>("left_running") ?? NONE_LEFT,
  };
}

function sequenceOf(statements: Statements, id: OperationId): number {
  const row = statements.get("SELECT requested_sequence FROM operations WHERE id = ?", id);
  if (row === null) fail("io", statements.path, `Cannot continue after operation "${id}"`);
  return row.integer("requested_sequence");
}
