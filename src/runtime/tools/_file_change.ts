import type { OperationScope } from "../../core/policy/scope.ts";
import { ok, type Result } from "../../core/result.ts";
import type { OperationId } from "../../core/ids.ts";
import type { FileChange, FileVersion, PlannedChange } from "../workspace/protocol.ts";
import type { ToolEffects } from "./effects.ts";
import { done, failed, refuse } from "./_refusals.ts";
import type { PreparedOperation, Refusal } from "./tool.ts";

/** Prepares a change of one file: planned by the worker, applied only by `perform`. */
export async function prepareChange(
  change: FileChange,
  { effects, operationId }: { readonly effects: ToolEffects; readonly operationId: OperationId },
): Promise<Result<PreparedOperation, Refusal>> {
  const planned = await effects.files.call({ type: "plan", operationId, change });
  if (!planned.ok) return refuse(planned.error);
  const plan = planned.value;
  return ok({
    scope: scopeOf(change, effects),
    before: versionKey(plan.before),
    after: versionKey(plan.after),
    preImage: plan.before.state === "absent" ? null : plan.preImage,
    perform: async () => {
      const applied = await effects.files.call({ type: "apply", operationId });
      if (!applied.ok) return failed(applied.error);
      noteVersions(effects, { change, now: applied.value });
      return done(`${describe(change)}\n${plan.diff}`.trimEnd(), describe(change, plan));
    },
    discard: async () => {
      await effects.files.call({ type: "discard", operationId });
    },
  });
}

function scopeOf(
  change: FileChange,
  { userChanges, versions }: ToolEffects,
): OperationScope {
  const version = change.type === "create" ? "absent" : change.expected;
  return {
    type: "file",
    action: change.type,
    path: change.path,
    to: change.type === "rename" ? change.to : null,
    version,
    userChange: userChanges.at(change.path),
    knownVersion: userChanges.versionAt(change.path) === version ||
      versions.isOwn(change.path, version),
  };
}

function versionKey(version: FileVersion): PreparedOperation["before"] {
  return version.state === "absent" ? "absent" : version.digest;
}

function noteVersions(
  effects: ToolEffects,
  { change, now }: { readonly change: FileChange; readonly now: FileVersion },
): void {
  const version = versionKey(now) ?? "absent";
  if (change.type !== "rename") {
    effects.versions.wrote(change.path, version);
    return;
  }
  effects.versions.wrote(change.path, "absent");
  effects.versions.wrote(change.to, version);
}

function describe(change: FileChange, plan?: PlannedChange): string {
  const size = plan?.after.state === "file" ? ` (${plan.after.sizeBytes} bytes)` : "";
  switch (change.type) {
    case "edit":
      return `Edited ${change.path}${size}`;
    case "create":
      return `Created ${change.path}${size}`;
    case "rewrite":
      return `Rewrote ${change.path}${size}`;
    case "delete":
      return `Deleted ${change.path}`;
    case "rename":
      return `Renamed ${change.path} to ${change.to}`;
  }
}

/** The refusal for a change of a file whose content the model has not seen. */
export function unread(path: string): string {
  return `Cannot change "${path}": read it first, so that the change is based on what is there`;
}
