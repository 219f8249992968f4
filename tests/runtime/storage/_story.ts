import type { AssistantMessage } from "../../../src/core/conversation/message.ts";
import type { DomainEvent, TaskResult } from "../../../src/core/events/event.ts";
import type { ArtifactId, GrantId, OperationId } from "../../../src/core/ids.ts";
import type { Grant } from "../../../src/core/policy/grant.ts";
import { scopeKey } from "../../../src/core/policy/scope.ts";
import { UNKNOWN_USAGE } from "../../../src/core/usage.ts";
import { newId } from "../../support/ids.ts";
import {
  authorizedOperation,
  COMMAND,
  DIGEST,
  intended,
  LIMITS,
  type StartedTask,
  startedTask,
} from "./_fixture.ts";

export type EventType = DomainEvent["type"];
type EventOf<T extends EventType> = Extract<DomainEvent, { type: T }>;

export const CONSUMPTION = { turns: 1, activeMs: 5, toolCalls: 1, tokens: 7, estimatedTokens: 2 };

/** Every event of the story and the ids that its checks need. */
export interface Story extends StartedTask {
  readonly cases: { readonly [T in EventType]: EventOf<T> };
  /** All of `cases` and what they need, in a legal order. */
  readonly order: readonly DomainEvent[];
  readonly operationIds: readonly OperationId[];
  readonly artifactId: ArtifactId;
  readonly taskGrantId: GrantId;
  readonly result: TaskResult;
  /** A one-time grant for `COMMAND`. */
  readonly once: Grant;
}

/** One event of every type, all of one task. A new variant without a case does not compile. */
export function oneOfEach(): Story {
  const task = startedTask();
  const { sessionId, taskId, attemptId } = task;
  const first = authorizedOperation(attemptId);
  const second = newId("operation");
  const third = authorizedOperation(attemptId);
  const fourth = newId("operation");
  const requestId = newId("request");
  const answerId = newId("message");
  const userId = newId("message");
  const onceId = newId("grant");
  const taskGrantId = newId("grant");
  const artifactId = newId("artifact");
  const saidId = newId("intervention");
  const purgedId = newId("session");
  const once: Grant = {
    id: onceId,
    key: scopeKey(COMMAND),
    covers: "scope",
    source: "approval",
    lifetime: "once",
    state: "active",
  };
  const answer: AssistantMessage = {
    role: "assistant",
    text: "Done 😀",
    reasoning: "Think",
    toolCalls: [],
    end: "stop",
  };
  const result: TaskResult = {
    status: "completed",
    verification: "passed",
    answer: "Done",
    error: null,
    changes: [],
    preExisting: [],
    denials: [],
    consumption: CONSUMPTION,
    diff: null,
    uncertainties: [],
  };
  const artifact = { id: artifactId, kind: "diff", digest: DIGEST, sizeBytes: 3, droppedBytes: 0 };
  const started = Object.fromEntries(task.events.map((event) => [event.type, event]));
  const of = <T extends EventType>(type: T) => started[type] as EventOf<T>;
  const cases: { readonly [T in EventType]: EventOf<T> } = {
    workspace_recorded: {
      type: "workspace_recorded",
      workspaceId: newId("workspace"),
      root: "/r",
      device: "1",
      inode: "2",
      birthTimeMs: "3",
    },
    session_created: of("session_created"),
    task_created: of("task_created"),
    task_moved: { type: "task_moved", taskId, from: "running", to: "completed", reason: null },
    task_ended: { type: "task_ended", taskId, result },
    budget_consumed: { type: "budget_consumed", taskId, consumption: CONSUMPTION },
    limits_extended: {
      type: "limits_extended",
      taskId,
      limits: { ...LIMITS, maxTurns: LIMITS.maxTurns + 5 },
    },
    yolo_set: { type: "yolo_set", taskId, on: true },
    intervention_queued: {
      type: "intervention_queued",
      taskId,
      interventionId: saidId,
      text: "Also the docs",
    },
    intervention_edited: {
      type: "intervention_edited",
      taskId,
      interventionId: saidId,
      text: "Also the docs, please",
    },
    intervention_removed: {
      type: "intervention_removed",
      taskId,
      interventionId: newId("intervention"),
    },
    intervention_consumed: {
      type: "intervention_consumed",
      taskId,
      interventionId: saidId,
      messageId: userId,
    },
    attempt_started: of("attempt_started"),
    attempt_ended: { type: "attempt_ended", attemptId, outcome: "completed", error: null },
    config_recorded: of("config_recorded"),
    baseline_recorded: {
      type: "baseline_recorded",
      attemptId,
      baseline: { git: "none", head: null, branch: null, entries: [], truncated: false },
    },
    message_recorded: {
      type: "message_recorded",
      messageId: userId,
      sessionId,
      taskId,
      message: { role: "user", text: "Fix\u0000 it" },
    },
    message_started: { type: "message_started", messageId: answerId, sessionId, taskId, requestId },
    // Ends in the middle of a surrogate pair.
    message_checkpointed: {
      type: "message_checkpointed",
      messageId: answerId,
      offset: 0,
      text: "Done \ud83d",
    },
    message_completed: {
      type: "message_completed",
      messageId: answerId,
      message: answer,
      end: "stop",
    },
    request_reserved: {
      type: "request_reserved",
      requestId,
      attemptId,
      purpose: "agent_turn",
      model: "m",
      origin: "http://127.0.0.1:1",
      capacityId: "c",
      pool: "p",
      retry: 0,
      estimatedInputTokens: 5,
    },
    request_dispatched: { type: "request_dispatched", requestId, bodyBytes: 10 },
    request_ended: {
      type: "request_ended",
      requestId,
      outcome: "complete",
      usage: UNKNOWN_USAGE,
      rawFinish: "stop",
      error: null,
    },
    operation_requested: first.events[0] as EventOf<"operation_requested">,
    operation_authorized: first.events[1] as EventOf<"operation_authorized">,
    operation_intended: {
      type: "operation_intended",
      operationId: first.operationId,
      consumes: onceId,
      preImage: artifactId,
      before: DIGEST,
      after: "absent",
    },
    operation_dispatched: { type: "operation_dispatched", operationId: first.operationId },
    process_started: {
      type: "process_started",
      operationId: first.operationId,
      pid: 77,
      startTicks: "1234",
      bootId: "boot",
    },
    processes_left: {
      type: "processes_left",
      operationId: first.operationId,
      left: {
        processes: [{ pid: 78, startTicks: "1240", bootId: "boot", command: "sleep 60" }],
        more: 2,
      },
    },
    operation_finished: {
      type: "operation_finished",
      operationId: first.operationId,
      outcome: "error",
      summary: "exit code 3",
      artifacts: [artifactId],
      exitCode: 3,
    },
    operation_denied: {
      type: "operation_denied",
      operationId: second,
      evidence: [],
      reason: "not wanted",
    },
    operation_unknown: {
      type: "operation_unknown",
      operationId: third.operationId,
      detail: "it may still run",
    },
    operation_settled: {
      type: "operation_settled",
      operationId: third.operationId,
      decision: "accepted",
    },
    operation_cancelled: {
      type: "operation_cancelled",
      operationId: fourth,
      reason: "invalidated",
    },
    grant_issued: { type: "grant_issued", taskId, grant: once },
    grant_ended: { type: "grant_ended", grantId: taskGrantId, state: "revoked" },
    artifact_recorded: { type: "artifact_recorded", artifact: { ...artifact, kind: "diff" } },
    verification_ended: {
      type: "verification_ended",
      taskId,
      round: 1,
      passed: false,
      operationId: first.operationId,
    },
    cancel_requested: { type: "cancel_requested", taskId, by: "SIGINT" },
    force_stop_requested: { type: "force_stop_requested", taskId, by: "user" },
    history_purged: {
      type: "history_purged",
      sessionId: purgedId,
      contents: {
        tasks: 0,
        messages: 0,
        events: 1,
        textBytes: 0,
        artifacts: 0,
        artifactBytes: 0,
      },
    },
  };
  const requested = (operationId: typeof second): DomainEvent => ({
    ...cases.operation_requested,
    operationId,
    callId: operationId,
  });
  const order: DomainEvent[] = [
    cases.workspace_recorded,
    { type: "session_created", sessionId: purgedId, title: "Deleted" },
    cases.history_purged,
    ...task.events,
    cases.baseline_recorded,
    cases.message_recorded,
    cases.request_reserved,
    cases.request_dispatched,
    cases.message_started,
    cases.message_checkpointed,
    cases.message_completed,
    cases.request_ended,
    cases.budget_consumed,
    cases.grant_issued,
    { type: "grant_issued", taskId, grant: { ...once, id: taskGrantId, lifetime: "task" } },
    cases.artifact_recorded,
    cases.operation_requested,
    cases.operation_authorized,
    cases.operation_intended,
    cases.operation_dispatched,
    cases.process_started,
    cases.operation_finished,
    cases.processes_left,
    cases.verification_ended,
    requested(second),
    cases.operation_denied,
    ...third.events,
    intended(third.operationId),
    cases.operation_unknown,
    cases.operation_settled,
    cases.limits_extended,
    cases.yolo_set,
    cases.intervention_queued,
    cases.intervention_edited,
    cases.intervention_removed,
    cases.intervention_consumed,
    requested(fourth),
    cases.operation_cancelled,
    cases.grant_ended,
    cases.cancel_requested,
    cases.force_stop_requested,
    cases.task_moved,
    cases.task_ended,
    cases.attempt_ended,
  ];
  const operationIds = [first.operationId, second, third.operationId, fourth];
  return { ...task, cases, order, operationIds, artifactId, taskGrantId, result, once };
}
