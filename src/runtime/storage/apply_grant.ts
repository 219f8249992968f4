import type { DomainEvent } from "../../core/events/event.ts";
import type { GrantId, OperationId, TaskId } from "../../core/ids.ts";
import type { Grant } from "../../core/policy/grant.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import { covers } from "../../core/policy/decide.ts";
import { type Applying, known, type Owner, reject, taskOwner } from "./_applying.ts";

type GrantEvent = Extract<DomainEvent, { type: "grant_issued" | "grant_ended" }>;

/** Grants are born active and end once. */
export function applyGrant(at: Applying, event: GrantEvent): Owner {
  switch (event.type) {
    case "grant_issued": {
      const { taskId, grant } = event;
      if (grant.state !== "active") {
        reject(at, `Cannot issue grant "${grant.id}": it is "${grant.state}"`);
      }
      at.statements.run(
        `INSERT INTO permission_grants (id, task_id, key, covers, source, lifetime, state,
           issued_wall_ms, issued_sequence) VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?)`,
        grant.id,
        taskId,
        grant.key,
        grant.covers,
        grant.source,
        grant.lifetime,
        at.wallMs,
        at.sequence,
      );
      return taskOwner(at, taskId);
    }
    case "grant_ended": {
      const row = at.statements.get(
        "SELECT task_id, state FROM permission_grants WHERE id = ?",
        event.grantId,
      );
      const grant = known(at, "grant", { id: event.grantId, row });
      const state = grant.text("state");
      if (state !== "active") {
        reject(at, `Cannot end grant "${event.grantId}": it is "${state}"`);
      }
      endGrant(at, { grantId: event.grantId, state: event.state });
      return taskOwner(at, grant.id("task_id"));
    }
  }
}

/**
 * Uses up a one-time grant for the operation whose intent is being recorded. Refuses a grant that
 * is not active, not one-time, of another task, or of another scope.
 */
export function consumeGrant(
  at: Applying,
  { grantId, operationId, taskId, scope }: {
    readonly grantId: GrantId;
    readonly operationId: OperationId;
    readonly taskId: TaskId | null;
    readonly scope: OperationScope;
  },
): void {
  const row = at.statements.get(
    "SELECT task_id, state, lifetime, covers, key FROM permission_grants WHERE id = ?",
    grantId,
  );
  const grant = known(at, "grant", { id: grantId, row });
  const refuse = (why: string): never =>
    reject(at, `Cannot consume grant "${grantId}" for operation "${operationId}": ${why}`);
  const state = grant.text("state");
  if (state !== "active") refuse(`it is "${state}"`);
  if (grant.text("lifetime") !== "once") refuse("it lasts for the task");
  if (grant.text("task_id") !== taskId) refuse("it belongs to another task");
  const named = {
    covers: grant.oneOf<Grant["covers"]>("covers", ["scope", "exact", "touch"]),
    key: grant.text("key"),
  };
  if (!covers(named, scope)) refuse("it covers another scope");
  endGrant(at, { grantId, state: "consumed" });
}

function endGrant(
  at: Applying,
  { grantId, state }: { readonly grantId: GrantId; readonly state: Grant["state"] },
): void {
  at.statements.run(
    "UPDATE permission_grants SET state = ?, ended_sequence = ? WHERE id = ?",
    state,
    at.sequence,
    grantId,
  );
}
