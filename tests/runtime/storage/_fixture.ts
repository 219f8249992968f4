import assert from "node:assert/strict";
import type { Digest } from "../../../src/core/digest.ts";
import type { StorageError } from "../../../src/core/errors.ts";
import type { Id } from "../../../src/core/ids.ts";
import type { EventContext, EventDraft } from "../../../src/core/events/envelope.ts";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import type { Result } from "../../../src/core/result.ts";
import type { OperationScope } from "../../../src/core/policy/scope.ts";
import { openStore, type Store } from "../../../src/runtime/storage/client.ts";
import type { StoreMode } from "../../../src/runtime/storage/protocol.ts";
import { newId } from "../../support/ids.ts";

export const NO_CONTEXT: EventContext = {
  sessionId: null,
  taskId: null,
  attemptId: null,
  traceId: null,
  spanId: null,
};

/** A draft; `wallMs` is the same for all, so nothing can be ordered by it. */
export function draft(event: DomainEvent, context: Partial<EventContext> = {}): EventDraft {
  return { id: newId("event"), wallMs: 1_000, context: { ...NO_CONTEXT, ...context }, event };
}

export function drafts(...events: DomainEvent[]): EventDraft[] {
  return events.map((event) => draft(event));
}

/** A data directory of its own, removed at the end of the block. */
export function temporaryStore(): Disposable & {
  readonly root: string;
  readonly directory: string;
} {
  const root = Deno.makeTempDirSync();
  return {
    root,
    directory: `${root}/.fluzodrive`,
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

/** Opens a store that must open. */
export async function opened(
  directory: string,
  options: { readonly mode?: StoreMode; readonly ownerAlive?: boolean } = {},
): Promise<Store & AsyncDisposable> {
  const { mode = "write", ownerAlive = true } = options;
  const store = value(await openStore({ directory, mode, ownerAlive: () => ownerAlive }).opened);
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** The value of a result that must be a success. */
export function value<T>(result: Result<T, StorageError>): T {
  assert.ok(result.ok, result.ok ? "" : JSON.stringify(result.error));
  return result.value;
}

/** The error of a result that must be a failure. */
export function failure<T>(result: Result<T, StorageError>): StorageError {
  assert.ok(!result.ok, "expected a failure");
  return result.error;
}

export const DIGEST = "a".repeat(64) as Digest;

export const COMMAND: OperationScope = {
  type: "command",
  mode: "direct",
  argv: ["deno", "test"],
  cwd: ".",
  env: [],
  git: "none",
  binding: "",
};

export const LIMITS = { maxTurns: 30, maxActiveSeconds: 60, maxToolCalls: 9, maxTotalTokens: 99 };

/** A task with an open attempt, and the events that make it. */
export interface StartedTask {
  readonly sessionId: Id<"session">;
  readonly taskId: Id<"task">;
  readonly attemptId: Id<"attempt">;
  readonly snapshotId: Id<"snapshot">;
  readonly instanceId: Id<"instance">;
  readonly events: readonly DomainEvent[];
}

export function startedTask(): StartedTask {
  const ids = {
    sessionId: newId("session"),
    taskId: newId("task"),
    attemptId: newId("attempt"),
    snapshotId: newId("snapshot"),
    instanceId: newId("instance"),
  };
  const { sessionId, taskId, attemptId, snapshotId, instanceId } = ids;
  const events: DomainEvent[] = [
    { type: "session_created", sessionId, title: "First" },
    {
      type: "task_created",
      taskId,
      sessionId,
      goal: "Fix it",
      limits: LIMITS,
      verification: ["deno", "test"],
      yolo: false,
    },
    { type: "config_recorded", snapshotId, fingerprint: DIGEST, settings: { a: 1 } },
    { type: "task_moved", taskId, from: "pending", to: "ready", reason: null },
    {
      type: "attempt_started",
      attemptId,
      taskId,
      number: 1,
      traceId: "0".repeat(32),
      previousTraceId: null,
      instanceId,
      snapshotId,
      model: "coder",
    },
    { type: "task_moved", taskId, from: "ready", to: "running", reason: null },
  ];
  return { ...ids, events };
}

/** An operation of `attemptId`, authorized: its intent may come next. */
export function authorizedOperation(
  attemptId: Id<"attempt">,
): { readonly operationId: Id<"operation">; readonly events: readonly DomainEvent[] } {
  const operationId = newId("operation");
  const events: DomainEvent[] = [
    {
      type: "operation_requested",
      operationId,
      attemptId,
      callId: operationId,
      tool: "run_command",
      scope: COMMAND,
    },
    { type: "operation_authorized", operationId, evidence: [] },
  ];
  return { operationId, events };
}

export function intended(
  operationId: Id<"operation">,
  consumes: Id<"grant"> | null = null,
): DomainEvent {
  return {
    type: "operation_intended",
    operationId,
    consumes,
    preImage: null,
    before: null,
    after: null,
  };
}
