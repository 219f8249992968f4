import type { FluzoError } from "../../core/errors.ts";
import { FluzoFailure } from "../../core/errors.ts";
import type { DomainEvent, TaskResult } from "../../core/events/event.ts";
import type { AttemptOutcome } from "../../core/lifecycle/attempt.ts";
import type { TaskReason, TaskState } from "../../core/lifecycle/task.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { ERROR_TYPE, FLUZO, LOGS } from "../../core/telemetry/names.ts";
import { unansweredCalls } from "../context/conversation.ts";
import type { Attempt, Ending } from "./attempt.ts";
import { dispatch } from "./dispatcher.ts";
import { buildResult, type ResultEffects } from "./result.ts";
import { takeTurn } from "./turn.ts";
import { repairRequest, verify } from "./verification.ts";

/** Times a failed verification goes back to the model before the task fails. */
const MAX_REPAIR_ROUNDS = 2;

/** Equal calls with equal results in a row after which the model is plainly going in circles. */
const MAX_EQUAL_CALLS = 4;

/** Answers in a row that may be cut at the output limit before the task fails. */
const MAX_CUT_ANSWERS = 2;

const CUT_ANSWER_TEXT = "Your answer was cut off at the output limit. Nothing of it was done. " +
  "Go on in smaller steps.";

/**
 * Runs an attempt to its end: turns and tool calls until the model has finished, then the
 * verification. Every way to end leads through one place that records it.
 *
 * @throws {FluzoFailure} With a storage error when the end itself could not be recorded.
 */
export async function runAttempt(attempt: Attempt, effects: ResultEffects): Promise<TaskResult> {
  const run: RunState = { answer: "", verification: "not_run" };
  if (attempt.plan.verification.length === 0) run.verification = "not_configured";
  let ending: Ending;
  try {
    ending = await work(attempt, run);
  } catch (failure) {
    ending = { type: "failed", error: toError(failure) };
  }
  return await conclude(attempt, { run, ending, effects });
}

interface RunState {
  answer: string;
  verification: TaskResult["verification"];
}

async function work(attempt: Attempt, run: RunState): Promise<Ending> {
  const repetition = new RepetitionGuard();
  let cutAnswers = 0;
  for (let repair = 0;;) {
    const cancelled = cancelledEnding(attempt);
    if (cancelled !== null) return cancelled;
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
      for (const call of turn.message.toolCalls) {
        const stopped = cancelledEnding(attempt);
        if (stopped !== null) return stopped;
        const outcome = await dispatch(attempt, call);
        if (outcome.type === "stop") return outcome.ending;
        if (repetition.isStuck(`${call.name} ${call.argumentsText}`, outcome.message.text)) {
          return {
            type: "blocked",
            reason: "repeated_call",
            error: { type: "repeated_call", tool: call.name, times: MAX_EQUAL_CALLS },
          };
        }
      }
      continue;
    }
    if (attempt.plan.verification.length === 0) return { type: "completed" };
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

/** Notices a model that repeats one call and gets the same answer each time. */
class RepetitionGuard {
  #last = "";
  #times = 0;

  isStuck(call: string, result: string): boolean {
    const pair = JSON.stringify([call, result]);
    this.#times = pair === this.#last ? this.#times + 1 : 1;
    this.#last = pair;
    return this.#times >= MAX_EQUAL_CALLS;
  }
}

function cancelledEnding(attempt: Attempt): Ending | null {
  const { by } = attempt.cancel;
  return by === null ? null : { type: "cancelled", by };
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
  const events: DomainEvent[] = [...built.events, ...answersToUnrun(attempt)];
  for (const step of stepsTo(ending)) {
    events.push({ type: "task_moved", taskId: plan.taskId, ...step });
  }
  for (const grant of attempt.grants) {
    if (grant.state !== "active") continue;
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

/**
 * Every call gets a result, so that a session can go on: one that was never performed says so, and
 * one whose outcome could not be recorded is unknown, in the journal as well.
 */
function answersToUnrun({ conversation, inFlight, plan, services }: Attempt): DomainEvent[] {
  const events: DomainEvent[] = inFlight === null ? [] : [{
    type: "operation_unknown",
    operationId: inFlight.operationId,
    detail: "its outcome could not be recorded",
  }];
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
): readonly {
  readonly from: TaskState;
  readonly to: TaskState;
  readonly reason: TaskReason | null;
}[] {
  switch (ending.type) {
    case "completed":
      return [{ from: "running", to: "completed", reason: null }];
    case "failed":
      return [{ from: "running", to: "failed", reason: null }];
    case "blocked":
      return [{ from: "running", to: "blocked", reason: ending.reason }];
    case "cancelled":
      return [
        { from: "running", to: "stopping", reason: null },
        { from: "stopping", to: "cancelled", reason: null },
      ];
  }
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

function toError(failure: unknown): FluzoError {
  if (failure instanceof FluzoFailure) return failure.error;
  return {
    type: "internal",
    detail: failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure),
  };
}
