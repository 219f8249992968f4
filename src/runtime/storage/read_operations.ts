import type { ArtifactId, OperationId, TaskId } from "../../core/ids.ts";
import { OPERATION_STATES, operationAfterLoss } from "../../core/lifecycle/operation.ts";
import type { OperationDetail, Page } from "../../core/port/read_models.ts";
import { pageLimit, toPage } from "./read_page.ts";
import { fail } from "./storage_failure.ts";
import type { Row, Statements } from "./statements.ts";

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
    `SELECT id, attempt_id, call_id, tool, scope, state, summary, exit_code, pre_image
     FROM operations WHERE task_id = ? AND requested_sequence > ?
     ORDER BY requested_sequence LIMIT ?`,
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
    summary: row.text("summary"),
    exitCode: row.integerOrNull("exit_code"),
    preImage: row.idOrNull("pre_image"),
    artifacts: artifacts.map((found) => found.id<ArtifactId>("artifact_id")),
  };
}

function sequenceOf(statements: Statements, id: OperationId): number {
  const row = statements.get("SELECT requested_sequence FROM operations WHERE id = ?", id);
  if (row === null) fail("io", statements.path, `Cannot continue after operation "${id}"`);
  return row.integer("requested_sequence");
}
