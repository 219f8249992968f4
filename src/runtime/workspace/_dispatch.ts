import type { OperationId } from "../../core/ids.ts";
import { applyPlan } from "./apply.ts";
import { cleanUp } from "./clean_up.ts";
import { MAX_FILE_BYTES } from "./_content.ts";
import { Guard } from "./_guard.ts";
import { listEntries } from "./list.ts";
import { type Plan, planChange } from "./plan.ts";
import type { WorkspaceReplies, WorkspaceRequest } from "./protocol.ts";
import { readBytes, readText } from "./read.ts";
import { refuse } from "./_refusal.ts";
import type { Scope } from "./resolve.ts";
import { searchFiles } from "./search.ts";
import { versionsOf } from "./versions.ts";
import { openWorkspace, type Workspace } from "./_workspace.ts";

/** Plans that wait for a decision; the user answers them one by one. */
const MAX_PLANS = 64;

/** Of new content that waits with them: a few of the largest files. */
const MAX_PLANNED_BYTES = 4 * MAX_FILE_BYTES;

/** The state of one worker and the way from a request to its operation. */
export class Dispatcher {
  #workspace: Workspace | null = null;
  readonly #plans = new Map<OperationId, Plan>();

  /** Answers one request. Refusals are thrown; the caller makes them data. */
  async handle(request: WorkspaceRequest): Promise<WorkspaceReplies[WorkspaceRequest["type"]]> {
    switch (request.type) {
      case "open":
        return this.#open(request);
      case "read":
        return await readText(this.#scope(request.path), request);
      case "read_bytes":
        return await readBytes(this.#scope(request.path), request);
      case "list":
        return await listEntries(this.#scope(request.path), request);
      case "search":
        return await searchFiles(this.#scope(request.path), request);
      case "versions":
        return await versionsOf(this.#scope(""), request.paths);
      case "plan":
        return await this.#plan(request);
      case "apply":
        return await this.#apply(request.operationId);
      case "discard":
        this.#plans.delete(request.operationId);
        return null;
      case "clean_up":
        return await cleanUp(this.#scope(request.change.path), request.change);
    }
  }

  #open(request: Extract<WorkspaceRequest, { readonly type: "open" }>): WorkspaceReplies["open"] {
    const workspace = openWorkspace(request.root, request.protectedPaths);
    this.#workspace?.root.close();
    this.#workspace = workspace;
    this.#plans.clear();
    const { device, inode, birthTimeNs } = workspace.stat;
    return {
      device: String(device),
      inode: String(inode),
      birthTimeNs: String(birthTimeNs),
    };
  }

  async #plan(
    request: Extract<WorkspaceRequest, { readonly type: "plan" }>,
  ): Promise<WorkspaceReplies["plan"]> {
    const { operationId, change } = request;
    this.#plans.delete(operationId);
    if (this.#plans.size >= MAX_PLANS) {
      refuse("io", change.path, `${MAX_PLANS} changes are waiting already`);
    }
    const { plan, shown } = await planChange(this.#scope(change.path), operationId, change);
    let bytes = contentBytes(plan);
    for (const waiting of this.#plans.values()) bytes += contentBytes(waiting);
    if (bytes > MAX_PLANNED_BYTES) {
      refuse("too_large", change.path, `${bytes} bytes of changes would wait`);
    }
    this.#plans.set(operationId, plan);
    return shown;
  }

  /** Each plan is applied at most once, whatever comes of it. */
  async #apply(operationId: OperationId): Promise<WorkspaceReplies["apply"]> {
    const plan = this.#plans.get(operationId);
    if (plan === undefined) refuse("io", "", `Operation "${operationId}" has no plan`);
    this.#plans.delete(operationId);
    return await applyPlan(this.#scope(plan.path), plan);
  }

  #scope(path: string): Scope {
    const workspace = this.#workspace ?? refuse("io", path, "The workspace is not open");
    return { workspace, guard: new Guard(workspace) };
  }
}

function contentBytes(plan: Plan): number {
  return "content" in plan ? plan.content.length : 0;
}

/** The path a refusal is about, for errors that do not know it. */
export function pathOf(request: WorkspaceRequest): string {
  switch (request.type) {
    case "open":
      return request.root;
    case "plan":
    case "clean_up":
      return request.change.path;
    case "versions":
    case "apply":
    case "discard":
      return "";
    case "read":
    case "read_bytes":
    case "list":
    case "search":
      return request.path;
  }
}
