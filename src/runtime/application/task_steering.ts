import type { BudgetLimits } from "../../core/budget/budget.ts";
import type { FluzoError } from "../../core/errors.ts";
import { FluzoFailure } from "../../core/errors.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { InterventionId, TaskId } from "../../core/ids.ts";
import type { Command, CommandReplies } from "../../core/port/application.ts";
import type { QueuedMessage } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Attempt } from "../execution/attempt.ts";
import { MAX_QUEUED_MESSAGES, MAX_QUEUED_UNITS } from "../execution/interventions.ts";
import type { AnswerServices } from "./task_answers.ts";

type Reply<T extends Command["type"]> = Result<CommandReplies[T], FluzoError>;
type Of<T extends Command["type"]> = Extract<Command, { type: T }>;

/** What the user does to a task besides answering it: more budget, YOLO, and words. */
export class TaskSteering {
  readonly #services: AnswerServices;

  constructor(services: AnswerServices) {
    this.#services = services;
  }

  /** Adds to the limits. What was consumed stays consumed. */
  async extend({ taskId, more }: Of<"extend_task">): Promise<Reply<"extend_task">> {
    const found = await this.#services.reader.task(taskId);
    if (!found.ok) return found;
    if (found.value === null) return err({ type: "not_found", what: "task", id: taskId });
    const { state } = found.value;
    const attempt = this.#services.attemptOf(taskId);
    if (attempt === null && state !== "blocked") {
      return wrongState(taskId, { action: "extend", state });
    }
    const limits = extendLimits(attempt?.limits ?? found.value.limits, more);
    if (limits === null) {
      return err({
        type: "usage",
        message: "Cannot extend the task: every amount must be a whole number above zero",
        hint: "For example --turns 10",
      });
    }
    const event: DomainEvent = { type: "limits_extended", taskId, limits };
    const failed = await append(attempt?.journal ?? this.#services.resting, event);
    if (failed !== null) return err(failed);
    if (attempt !== null) attempt.limits = limits;
    return ok({ limits });
  }

  async setYolo({ taskId, on }: Of<"set_yolo">): Promise<Reply<"set_yolo">> {
    const attempt = this.#services.attemptOf(taskId);
    if (attempt === null) return notAtWork(taskId, "change YOLO of");
    if (attempt.yolo === on) return ok({ taskId });
    const failed = await append(attempt.journal, { type: "yolo_set", taskId, on });
    if (failed !== null) return err(failed);
    attempt.yolo = on;
    return ok({ taskId });
  }

  async queue({ taskId, text }: Of<"queue_message">): Promise<Reply<"queue_message">> {
    const attempt = this.#services.attemptOf(taskId);
    if (attempt === null) return notAtWork(taskId, "say something to");
    // It reads nothing more: what is said now would be lost.
    if (attempt.cancel.by !== null) {
      return wrongState(taskId, { action: "say something to", state: "stopping" });
    }
    const checked = checkText(attempt, text);
    if (!checked.ok) return checked;
    if (attempt.interventions.queued.length >= MAX_QUEUED_MESSAGES) {
      return err({
        type: "usage",
        message: `Cannot queue another message: ${MAX_QUEUED_MESSAGES} wait already`,
        hint: "Wait until the task has read them",
      });
    }
    const interventionId = this.#services.ids.next("intervention");
    const failed = await append(attempt.journal, {
      type: "intervention_queued",
      taskId,
      interventionId,
      text: checked.value,
    });
    if (failed !== null) return err(failed);
    attempt.interventions.add({ id: interventionId, text: checked.value });
    return ok({ interventionId });
  }

  async edit({ taskId, interventionId, text }: Of<"edit_message">): Promise<Reply<"edit_message">> {
    const attempt = this.#queuedIn(taskId, interventionId);
    if (!attempt.ok) return attempt;
    const checked = checkText(attempt.value, text);
    if (!checked.ok) return checked;
    // Changed first: whoever takes the queue meanwhile takes the new text or none.
    attempt.value.interventions.edit(interventionId, checked.value);
    const failed = await append(attempt.value.journal, {
      type: "intervention_edited",
      taskId,
      interventionId,
      text: checked.value,
    });
    return failed === null ? ok({ interventionId }) : err(failed);
  }

  async remove(
    { taskId, interventionId }: Of<"remove_message">,
  ): Promise<Reply<"remove_message">> {
    const attempt = this.#queuedIn(taskId, interventionId);
    if (!attempt.ok) return attempt;
    attempt.value.interventions.remove(interventionId);
    const failed = await append(attempt.value.journal, {
      type: "intervention_removed",
      taskId,
      interventionId,
    });
    return failed === null ? ok({ interventionId }) : err(failed);
  }

  /** Messages that the task has not read yet, in order. */
  queued(taskId: TaskId): readonly QueuedMessage[] {
    return this.#services.attemptOf(taskId)?.interventions.queued ?? [];
  }

  #queuedIn(taskId: TaskId, id: InterventionId): Result<Attempt, FluzoError> {
    const attempt = this.#services.attemptOf(taskId);
    if (attempt === null) return notAtWork(taskId, "change a message to");
    return attempt.interventions.has(id)
      ? ok(attempt)
      : err({ type: "not_found", what: "message", id });
  }
}

/** Adds to each limit; null when an amount is not a whole number above zero, or none is given. */
export function extendLimits(
  limits: BudgetLimits,
  more: Partial<BudgetLimits>,
): BudgetLimits | null {
  const amounts = Object.values(more).filter((amount) => amount !== undefined);
  if (amounts.length === 0) return null;
  if (!amounts.every((amount) => Number.isSafeInteger(amount) && amount > 0)) return null;
  return {
    maxTurns: limits.maxTurns + (more.maxTurns ?? 0),
    maxActiveSeconds: limits.maxActiveSeconds + (more.maxActiveSeconds ?? 0),
    maxToolCalls: limits.maxToolCalls + (more.maxToolCalls ?? 0),
    maxTotalTokens: limits.maxTotalTokens + (more.maxTotalTokens ?? 0),
  };
}

function checkText({ services }: Attempt, text: string): Result<string, FluzoError> {
  if (text.trim() !== "" && text.length <= MAX_QUEUED_UNITS) {
    return ok(services.redactor.redact(text));
  }
  return err({
    type: "usage",
    message: text.trim() === ""
      ? "The message is empty"
      : `The message is longer than ${MAX_QUEUED_UNITS} characters`,
    hint: "Put long material into a file of the workspace and name it",
  });
}

async function append(
  journal: AnswerServices["resting"],
  event: DomainEvent,
): Promise<FluzoError | null> {
  try {
    await journal.append([event]);
    return null;
  } catch (failure) {
    if (failure instanceof FluzoFailure) return failure.error;
    throw failure;
  }
}

function notAtWork(taskId: TaskId, action: string): Result<never, FluzoError> {
  return wrongState(taskId, { action, state: "not at work" });
}

function wrongState(
  taskId: TaskId,
  { action, state }: { readonly action: string; readonly state: string },
): Result<never, FluzoError> {
  return err({
    type: "wrong_state",
    taskId,
    action,
    state,
    remedy: "`fluzo task list` shows the tasks and their states",
  });
}
