import type { TaskId } from "../../core/ids.ts";
import type { Grant } from "../../core/policy/grant.ts";
import type { GrantDetail, Page } from "../../core/port/read_models.ts";
import { type Listing, pageLimit, parseCursor, toPage } from "./read_page.ts";
import type { Row, Statements } from "./statements.ts";

/** Columns that `readGrantRow` needs, of table alias `g`. */
export const GRANT_COLUMNS = "g.id, g.key, g.covers, g.source, g.lifetime, g.state";

/** Grants of a task, or of all, newest first: also those that ended. */
export function readGrants(
  statements: Statements,
  { taskId, cursor, limit }: Listing & { readonly taskId: TaskId | null },
): Page<GrantDetail> {
  const before = parseCursor(statements, { cursor, first: Number.MAX_SAFE_INTEGER });
  const size = pageLimit(limit);
  const rows = statements.all(
    `SELECT ${GRANT_COLUMNS}, g.task_id, g.issued_wall_ms, g.issued_sequence, o.id AS used_by
     FROM permission_grants g LEFT JOIN operations o ON o.grant_id = g.id
     WHERE g.issued_sequence < ?1 AND (?2 IS NULL OR g.task_id = ?2)
     ORDER BY g.issued_sequence DESC LIMIT ?3`,
    before,
    taskId,
    size + 1,
  );
  return toPage(rows, {
    limit: size,
    item: (row) => ({
      ...readGrantRow(row),
      taskId: row.id<TaskId>("task_id"),
      issuedWallMs: row.integer("issued_wall_ms"),
      usedBy: row.idOrNull("used_by"),
    }),
    position: (row) => String(row.integer("issued_sequence")),
  });
}

/** A grant from its row. */
export function readGrantRow(row: Row): Grant {
  return {
    id: row.id("id"),
    key: row.text("key"),
    covers: row.oneOf("covers", ["scope", "exact", "touch"]),
    source: row.oneOf("source", ["command_line", "approval", "configured"]),
    lifetime: row.oneOf("lifetime", ["once", "task"]),
    state: row.oneOf("state", ["active", "consumed", "revoked", "expired"]),
  };
}
