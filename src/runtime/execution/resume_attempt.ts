import type { Message, ToolResultMessage } from "../../core/conversation/message.ts";
import type { Denial, DomainEvent } from "../../core/events/event.ts";
import type { OperationId } from "../../core/ids.ts";
import type { Grant } from "../../core/policy/grant.ts";
import { approvalKey, type OperationScope } from "../../core/policy/scope.ts";
import type { GrantDetail, OperationDetail, TaskDetail } from "../../core/port/read_models.ts";
import type { UnknownDecision } from "../../core/port/application.ts";
import type { Span } from "../../core/telemetry/telemetry.ts";
import { resumeMessage } from "../context/resume_context.ts";
import type { Attempt, AttemptServices } from "./attempt.ts";
import {
  type AttemptStart,
  attemptStarted,
  configRecorded,
  openAttempt,
  type Opening,
} from "./open_attempt.ts";
import { invalidatePending, type OpenCall, resultOfOpenCall } from "./open_calls.ts";
import type { OwnChanges } from "./own_changes.ts";
import type { AttemptBeginning } from "./task_run.ts";

/** How long an answer to a task at rest is good for, in milliseconds: a working day and a night. */
export const APPROVAL_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Everything that is known when a task goes on. */
export interface TaskResume extends AttemptStart {
  readonly task: TaskDetail;
  readonly history: readonly Message[];
  readonly openCalls: readonly OpenCall[];
  readonly own: OwnChanges;
  /** Grants of the task so far. */
  readonly issued: readonly GrantDetail[];
  /** Operations whose outcome is unknown, each with the user's decision. */
  readonly settled: readonly {
    readonly operation: OperationDetail;
    readonly decision: UnknownDecision["decision"];
  }[];
  readonly differences: readonly string[];
  /** What was denied in the task before, also by the answer to what blocked it. */
  readonly denials: readonly Denial[];
}

/** A new attempt, ready to run. */
export interface ResumedAttempt extends AttemptBeginning {
  readonly attempt: Attempt;
  readonly span: Span;
  /** Sequence of the last event of its beginning. */
  readonly afterSequence: number;
}

/**
 * Writes down a new attempt of a blocked task, in one transaction. Consumption, limits and
 * verification go on; grants and YOLO of earlier attempts do not. Calls whose effects are unknown
 * get a result that says so before anything is asked of a model; nothing is done again unless the
 * user said so.
 */
export async function resumeAttempt(
  resume: TaskResume,
  services: AttemptServices,
): Promise<ResumedAttempt> {
  const { plan, task } = resume;
  const last = task.attempts.at(-1);
  const number = (last?.number ?? 0) + 1;
  const resumedFrom = last?.traceId ?? null;
  const { again, closing } = sortOpenCalls(resume);
  const opening = await openAttempt(resume, {
    services,
    number,
    history: withResults(resume.history, closing),
    openCalls: again.map(({ call }) => call),
    resumedFrom,
  });
  const answers = keptAnswers(resume, services.clock.wallMs());
  const retries = retryGrants(resume, services);
  const afterSequence = await opening.beginnings.append([
    ...beginning(resume, { services, closing, expired: answers.expired }),
    ...issue(retries, plan.taskId),
    ...opening.grantEvents,
    attemptStarted(resume, {
      number,
      traceId: opening.span.context.traceId,
      resumedFrom,
    }),
    { type: "baseline_recorded", attemptId: plan.attemptId, baseline: resume.baseline },
    { type: "task_moved", taskId: plan.taskId, from: "ready", to: "running", reason: null },
  ]);
  for (const { operation } of again) noteSeen(services, operation);
  return {
    attempt: finish(opening, { resume, grants: [...answers.kept, ...retries] }),
    span: opening.span,
    afterSequence,
    openCalls: again.map(({ call }) => call),
    note: services.redactor.redact(resumeMessage({
      differences: resume.differences,
      grants: [...plan.standingGrants, ...resume.grants],
      interrupted: task.reason === "interrupted",
      yolo: plan.yolo,
      onAsk: plan.onAsk,
    })),
  };
}

function finish(
  opening: Opening,
  { resume, grants }: { readonly resume: TaskResume; readonly grants: readonly Grant[] },
): Attempt {
  const attempt = opening.finish({
    grants: [...opening.grants, ...grants],
    consumption: resume.task.consumption,
    firstVersions: resume.own.firstVersions,
  });
  for (const denial of resume.denials) attempt.deny(denial);
  return attempt;
}

interface SortedCalls {
  /** Performed in the new attempt: they had no effect, or the user wants them done again. */
  readonly again: readonly OpenCall[];
  /** Results of those that are over. */
  readonly closing: readonly ToolResultMessage[];
}

/**
 * After a clean block, what was not done comes next. After a crash the model decides anew, unless
 * the user said that a certain operation is to be done again.
 */
function sortOpenCalls({ openCalls, settled, task }: TaskResume): SortedCalls {
  const retried = new Set<OperationId>(
    settled.filter(({ decision }) => decision === "retry").map(({ operation }) => operation.id),
  );
  const again: OpenCall[] = [];
  const closing: ToolResultMessage[] = [];
  for (const open of openCalls) {
    const { operation } = open;
    const untouched = operation === null || operation.state === "requested";
    if (operation !== null && retried.has(operation.id)) again.push(open);
    else if (untouched && task.reason !== "interrupted") again.push(open);
    else closing.push(resultOfOpenCall(open));
  }
  return { again, closing };
}

/** Results stand behind the answer that made the calls, before anything that was said later. */
function withResults(
  history: readonly Message[],
  results: readonly ToolResultMessage[],
): readonly Message[] {
  const index = history.findLastIndex(({ role }) => role === "assistant");
  return [...history.slice(0, index + 1), ...results, ...history.slice(index + 1)];
}

function beginning(
  resume: TaskResume,
  { services, closing, expired }: {
    readonly services: AttemptServices;
    readonly closing: readonly ToolResultMessage[];
    readonly expired: readonly GrantDetail[];
  },
): readonly DomainEvent[] {
  const { plan, task } = resume;
  const { taskId, sessionId } = plan;
  return [
    configRecorded(resume),
    ...invalidatePending(resume.openCalls),
    ...resume.settled.map(({ operation, decision }) => ({
      type: "operation_settled",
      operationId: operation.id,
      decision: decision === "accept" ? "accepted" : "retried",
    } as const)),
    ...expired.map(({ id }) => ({ type: "grant_ended", grantId: id, state: "expired" } as const)),
    ...(task.yolo === plan.yolo ? [] : [{ type: "yolo_set", taskId, on: plan.yolo } as const]),
    { type: "task_moved", taskId, from: "blocked", to: "ready", reason: null },
    ...closing.map((message) => ({
      type: "message_recorded",
      messageId: services.ids.next("message"),
      sessionId,
      taskId,
      message,
    } as const)),
  ];
}

/** Answers to what blocked the task are still good; what is too old is not. */
function keptAnswers(
  { issued }: TaskResume,
  nowMs: number,
): { readonly kept: readonly Grant[]; readonly expired: readonly GrantDetail[] } {
  const active = issued.filter(({ state }) => state === "active");
  const isKept = (grant: GrantDetail): boolean =>
    grant.source === "approval" && Math.abs(nowMs - grant.issuedWallMs) <= APPROVAL_LIFETIME_MS;
  return { kept: active.filter(isKept), expired: active.filter((grant) => !isKept(grant)) };
}

/** "Do it again" is the user's permission for exactly that, once. */
function retryGrants({ settled }: TaskResume, { ids }: AttemptServices): readonly Grant[] {
  return settled.filter(({ decision }) => decision === "retry").map(({ operation }) => ({
    id: ids.next("grant"),
    key: approvalKey(operation.scope),
    covers: "exact",
    source: "approval",
    lifetime: "once",
    state: "active",
  }));
}

function issue(grants: readonly Grant[], taskId: TaskResume["plan"]["taskId"]): DomainEvent[] {
  return grants.map((grant) => ({ type: "grant_issued", taskId, grant }));
}

/** The version a change was based on counts as seen: the file is checked against it once more. */
function noteSeen({ effects }: AttemptServices, operation: OperationDetail | null): void {
  const scope: OperationScope | undefined = operation?.scope;
  if (scope?.type === "file") effects.versions.note(scope.path, scope.version);
}
