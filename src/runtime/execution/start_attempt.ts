import { NO_CONSUMPTION } from "../../core/budget/budget.ts";
import type { Message, ToolResultMessage } from "../../core/conversation/message.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { Span } from "../../core/telemetry/telemetry.ts";
import { taskMessage } from "../context/initial_context.ts";
import type { Attempt, AttemptServices } from "./attempt.ts";
import { type AttemptStart, attemptStarted, configRecorded, openAttempt } from "./open_attempt.ts";
import { invalidatePending, type OpenCall, resultOfOpenCall } from "./open_calls.ts";

/** Characters of a goal that make a session's title. */
const TITLE_LENGTH = 80;

/** Everything that is known when a task begins. */
export interface TaskStart extends AttemptStart {
  readonly goal: string;
  readonly workspace: Extract<DomainEvent, { type: "workspace_recorded" }>;
  /** The conversation so far, and its calls without a result; null begins a session. */
  readonly session: {
    readonly history: readonly Message[];
    readonly openCalls: readonly OpenCall[];
  } | null;
}

/**
 * Writes down a new task with its first attempt, in one transaction: its goal, limits, grants,
 * configuration and baseline are durable before anything is asked of a model.
 */
export async function startAttempt(
  start: TaskStart,
  services: AttemptServices,
): Promise<{ readonly attempt: Attempt; readonly span: Span }> {
  const { plan, session } = start;
  // An earlier task of the session left these open; this one goes on without them.
  const closing = (session?.openCalls ?? []).map(resultOfOpenCall);
  const opening = await openAttempt(start, {
    services,
    number: 1,
    history: [...session?.history ?? [], ...closing],
    openCalls: [],
    resumedFrom: null,
  });
  const { redact } = services.redactor;
  const message = {
    role: "user",
    text: redact(taskMessage(start.goal, {
      baseline: start.baseline,
      grants: [...plan.standingGrants, ...start.grants],
      verification: plan.verification,
      yolo: plan.yolo,
      onAsk: plan.onAsk,
    })),
  } as const;
  const record = (recorded: ToolResultMessage | typeof message): DomainEvent => ({
    type: "message_recorded",
    messageId: services.ids.next("message"),
    sessionId: plan.sessionId,
    taskId: plan.taskId,
    message: recorded,
  });
  await opening.beginnings.append([
    ...beginning(start, redact(start.goal)),
    ...opening.grantEvents,
    attemptStarted(start, {
      number: 1,
      traceId: opening.span.context.traceId,
      resumedFrom: null,
    }),
    { type: "baseline_recorded", attemptId: plan.attemptId, baseline: start.baseline },
    { type: "task_moved", taskId: plan.taskId, from: "ready", to: "running", reason: null },
    ...closing.map(record),
    record(message),
  ]);
  opening.conversation.add(message);
  const attempt = opening.finish({
    grants: opening.grants,
    consumption: NO_CONSUMPTION,
    firstVersions: new Map(),
  });
  return { attempt, span: opening.span };
}

function beginning(start: TaskStart, goal: string): DomainEvent[] {
  const { plan, session } = start;
  const events: DomainEvent[] = [start.workspace, ...invalidatePending(session?.openCalls ?? [])];
  if (session === null) {
    const title = goal.split("\n")[0]?.slice(0, TITLE_LENGTH) ?? "";
    events.push({ type: "session_created", sessionId: plan.sessionId, title });
  }
  events.push(
    {
      type: "task_created",
      taskId: plan.taskId,
      sessionId: plan.sessionId,
      goal,
      limits: plan.limits,
      verification: plan.verification,
      yolo: plan.yolo,
    },
    configRecorded(start),
    { type: "task_moved", taskId: plan.taskId, from: "pending", to: "ready", reason: null },
  );
  return events;
}
