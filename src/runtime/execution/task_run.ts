import type { FluzoError } from "../../core/errors.ts";
import { FluzoFailure } from "../../core/errors.ts";
import type { DomainEvent, TaskResult } from "../../core/events/event.ts";
import type { AttemptOutcome } from "../../core/lifecycle/attempt.ts";
import type { TaskReason, TaskState } from "../../core/lifecycle/task.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { ERROR_TYPE, FLUZO, LOGS } from "../../core/telemetry/names.ts";
import type { ToolCall } from "../../core/conversation/message.ts";
import { unansweredCalls } from "../context/conversation.ts";
import type { Attempt, Ending } from "./attempt.ts";
import { dispatch } from "./dispatcher.ts";
import { leftEvents } from "./left_events.ts";
import { ProgressGuard } from "./progress_guard.ts";
import { buildResult, type ResultEffects } from "./result.ts";
import { takeTurn } from "./turn.ts";
import { repairRequest, verify } from "./verification.ts";

/** Times a failed verification goes back to the model before the task fails. */
const MAX_REPAIR_ROUNDS = 2;

/** Answers in a row that may be cut at the output limit before the task fails. */
const MAX_CUT_ANSWERS = 2;

const CUT_ANSWER_TEXT = "Your answer was cut off at the output limit. Nothing of it was done. " +
  "Go on in smaller steps.";

/** What an attempt begins with. */
export interface AttemptBeginning {
  /** Calls of the newest answer that an earlier attempt left undone; they come before a turn. */
  readonly openCalls: readonly ToolCall[];
  /** What the model is told once those have their results; null when there is nothing to tell. */
  readonly note: string | null;
}

/**
 * Runs an attempt to its end: turns and tool calls until the model has finished, then the
 * verification. Every way to end leads through one place that records it.
 *
 * @throws {FluzoFailure} With a storage error when the end itself could not be recorded.
 */
export async function runAttempt(
  attempt: Attempt,
  { openCalls, note, effects }: AttemptBeginning & { readonly effects: ResultEffects },
): Promise<TaskResult> {
  const run: RunState = { answer: "", verification: "not_run" };
  if (attempt.plan.verification.length === 0) run.verification = "not_configured";
  let ending: Ending;
  try {
    ending = await work(attempt, { run, openCalls, note });
  } catch (failure) {
    ending = endingFor(toError(failure));
  }
  return await conclude(attempt, { run, ending, effects });
}

interface RunState {
  answer: string;
  verification: TaskResult["verification"];
}

async function work(
  attempt: Attempt,
  { run, openCalls, note }: AttemptBeginning & { readonly run: RunState },
): Promise<Ending> {
  const guard = new ProgressGuard();
  const left = await dispatchAll(attempt, { calls: openCalls, guard });
  if (left !== null) return left;
  if (note !== null) await sayToModel(attempt, note);
  let cutAnswers = 0;
  for (let repair = 0;;) {
    await takeInterventions(attempt);
    const stopped = reasonToStop(attempt);
    if (stopped !== null) return stopped;
    const turn = await takeTurn(attempt);
    if (turn.type === "stop") return turn.ending;
    run.answer = turn.message.text;
    if (turn.message.end === "length") {
      if (++cutAnswers > MAX_CUT_ANSWERS) return { type: "failed", error: outputLimit(attempt) };
      await sayToModel(attempt, CUT_ANSWER_TEXT);
      continue;
    }
    cutAnswers = 0;
    if (turn.message.toolCalls.length > 0) {
      const ending = await dispatchAll(attempt, { calls: turn.message.toolCalls, guard });
      if (ending !== null) return ending;
      continue;
    }
    // Said while the model gave its last answer: it is answered before anything is called done.
    if (attempt.interventions.queued.length > 0) continue;
    if (attempt.plan.verification.length === 0) return { type: "completed" };
    const unverified = reasonToStop(attempt);
    if (unverified !== null) return unverified;
    const verified = await verify(attempt, repair);
    switch (verified.type) {
      case "passed":
        run.verification = "passed";
        return { type: "completed" };
      case "cancelled":
        return { type: "cancelled", by: attempt.cancel.by ?? "user" };
      case "failed":
        run.verification = "failed";
        if (repair >= MAX_REPAIR_ROUNDS) {
          return {
            type: "failed",
            error: {
              type: "verification_failed",
              command: formatCommand(attempt.plan.verification),
              exitCode: verified.exitCode,
            },
          };
        }
        repair++;
        await sayToModel(attempt, repairRequest(attempt.plan.verification, verified));
    }
  }
}

function outputLimit({ plan }: Attempt): FluzoError {
  return {
    type: "provider",
    reason: "output_limit",
    origin: new URL(plan.endpoint.baseUrl).origin,
    status: null,
    detail: `${plan.maxOutputTokens} tokens`,
    ended: true,
  };
}

/** Performs calls in their order; an ending says why the rest was not. */
async function dispatchAll(
  attempt: Attempt,
  { calls, guard }: { readonly calls: readonly ToolCall[]; readonly guard: ProgressGuard },
): Promise<Ending | null> {
  for (const call of calls) {
    const stopped = reasonToStop(attempt);
    if (stopped !== null) return stopped;
    const outcome = await dispatch(attempt, call);
    if (outcome.type === "stop") return outcome.ending;
    const stuck = guard.note(call, outcome.message);
    if (stuck !== null) return { type: "blocked", ...stuck };
  }
  return null;
}

/** Gives the model what the user said meanwhile, in order. */
async function takeInterventions(attempt: Attempt): Promise<void> {
  const { plan, services } = attempt;
  for (const { id, text } of attempt.interventions.take()) {
    const messageId = services.ids.next("message");
    const message = { role: "user", text } as const;
    await attempt.journal.append([
      {
        type: "message_recorded",
        messageId,
        sessionId: plan.sessionId,
        taskId: plan.taskId,
        message,
      },
      { type: "intervention_consumed", taskId: plan.taskId, interventionId: id, messageId },
    ]);
    attempt.conversation.add(message);
  }
}

/** Why nothing more is begun: the user said so, or it could not be recorded any more. */
function reasonToStop({ cancel, services }: Attempt): Ending | null {
  if (cancel.by !== null) return { type: "cancelled", by: cancel.by };
  const full = services.room.forOperation();
  return full === null ? null : { type: "blocked", reason: "storage_failed", error: full };
}

async function sayToModel(attempt: Attempt, text: string): Promise<void> {
  const message = { role: "user", text } as const;
  const { plan, services } = attempt;
  await attempt.journal.append([{
    type: "message_recorded",
    messageId: services.ids.next("message"),
    sessionId: plan.sessionId,
    taskId: plan.taskId,
    message,
  }]);
  attempt.conversation.add(message);
}

/** Records how the attempt ended, and what it did to the workspace. */
async function conclude(
  attempt: Attempt,
  { run, ending, effects }: {
    readonly run: RunState;
    readonly ending: Ending;
    readonly effects: ResultEffects;
  },
): Promise<TaskResult> {
  const { plan, services } = attempt;
  const built = await buildResult(attempt, {
    status: ending.type,
    error: errorOf(ending),
    answer: run.answer,
    verification: run.verification,
  }, effects);
  const events: DomainEvent[] = [
    ...built.events,
    ...answersToUnrun(attempt, ending),
    ...await endLeft(attempt, ending),
  ];
  for (const step of stepsTo(ending, attempt.taskState)) {
    events.push({ type: "task_moved", taskId: plan.taskId, ...step });
  }
  for (const grant of attempt.grants) {
    // An answer of the user that was not used yet waits for the task to be resumed.
    const waits = ending.type === "blocked" && grant.source === "approval";
    if (grant.state !== "active" || waits) continue;
    events.push({ type: "grant_ended", grantId: grant.id, state: "expired" });
  }
  events.push(
    { type: "budget_consumed", taskId: plan.taskId, consumption: built.result.consumption },
    {
      type: "attempt_ended",
      attemptId: plan.attemptId,
      outcome: outcomeOf(ending),
      error: errorOf(ending),
    },
    { type: "task_ended", taskId: plan.taskId, result: built.result },
  );
  await attempt.journal.append(events);
  services.telemetry.log({
    severity: ending.type === "completed" ? "info" : "warn",
    name: LOGS.taskEnded,
    attributes: {
      [FLUZO.taskId]: plan.taskId,
      ...(ending.type === "completed"
        ? {}
        : { [ERROR_TYPE]: errorOf(ending)?.type ?? "cancelled" }),
    },
    context: attempt.span,
  });
  return built.result;
}

/** A cancelled task leaves nothing behind that Fluzo could end: what it cannot end is named. */
async function endLeft(
  { leftBy, services, cancel }: Attempt,
  ending: Ending,
): Promise<readonly DomainEvent[]> {
  if (ending.type !== "cancelled" || leftBy.size === 0) return [];
  const ended = await services.effects.commands.endLeft(leftBy, cancel.forced);
  return leftEvents(ended, services.redactor.redact);
}

/**
 * Results for calls that were not performed. An ended task answers all of them, so that its session
 * can go on; a blocked one leaves them open for its resume. One whose outcome could not be recorded
 * is unknown, in the journal as well.
 */
function answersToUnrun(
  { conversation, inFlight, plan, services }: Attempt,
  ending: Ending,
): DomainEvent[] {
  const events: DomainEvent[] = inFlight === null ? [] : [{
    type: "operation_unknown",
    operationId: inFlight.operationId,
    detail: "its outcome could not be recorded",
  }];
  if (ending.type === "blocked") return events;
  for (const { id, name } of unansweredCalls(conversation.messages)) {
    const unknown = id === inFlight?.callId;
    events.push({
      type: "message_recorded",
      messageId: services.ids.next("message"),
      sessionId: plan.sessionId,
      taskId: plan.taskId,
      message: {
        role: "tool",
        callId: id,
        name,
        text: unknown
          ? "Interrupted: it is not known whether this had effects. Look before you go on."
          : "Not run: the task ended before this call was performed. It had no effect.",
        outcome: unknown ? "interrupted" : "denied",
      },
    });
  }
  return events;
}

function stepsTo(
  ending: Ending,
  from: Attempt["taskState"],
): readonly {
  readonly from: TaskState;
  readonly to: TaskState;
  readonly reason: TaskReason | null;
}[] {
  switch (ending.type) {
    case "completed":
    case "failed":
      return [...backToWork(from), { from: "running", to: ending.type, reason: null }];
    case "blocked":
      return [{ from, to: "blocked", reason: ending.reason }];
    case "cancelled":
      return [
        { from, to: "stopping", reason: null },
        { from: "stopping", to: "cancelled", reason: null },
      ];
  }
}

/** A task ends from its work; a wait that failed goes back there first. */
function backToWork(from: Attempt["taskState"]): ReturnType<typeof stepsTo> {
  return from === "running" ? [] : [{ from, to: "running", reason: null }];
}

function outcomeOf(ending: Ending): AttemptOutcome {
  return ending.type;
}

function errorOf(ending: Ending): FluzoError | null {
  switch (ending.type) {
    case "completed":
      return null;
    case "failed":
    case "blocked":
      return ending.error;
    case "cancelled":
      return { type: "cancelled", by: ending.by };
  }
}

/** What could not be recorded is no fault of the task: it can go on once there is a journal again. */
function endingFor(error: FluzoError): Ending {
  return error.type === "storage"
    ? { type: "blocked", reason: "storage_failed", error }
    : { type: "failed", error };
}

function toError(failure: unknown): FluzoError {
  if (failure instanceof FluzoFailure) return failure.error;
  return {
    type: "internal",
    detail: failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure),
  };
}
