import { type FluzoError, FluzoFailure } from "../../core/errors.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { TaskId } from "../../core/ids.ts";
import type { Command, CommandReplies, StopReply } from "../../core/port/application.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Span } from "../../core/telemetry/telemetry.ts";
import { METRICS } from "../../core/telemetry/names.ts";
import { type Attempt, type AttemptServices, CancelSignal } from "../execution/attempt.ts";
import { resumeAttempt } from "../execution/resume_attempt.ts";
import { startAttempt } from "../execution/start_attempt.ts";
import { type AttemptBeginning, runAttempt } from "../execution/task_run.ts";
import { cancelAtRest, type RestServices } from "./cancel_at_rest.ts";
import { prepareResume } from "./prepare_resume.ts";
import { readSession } from "./read_session.ts";
import type { TaskSetup } from "./task_setup.ts";

type StartTask = Extract<Command, { type: "start_task" }>;
type ResumeTask = Extract<Command, { type: "resume_task" }>;
type StopTask = Extract<Command, { type: "cancel_task" | "kill_task" }>;
type Reply<T extends Command["type"]> = Result<CommandReplies[T], FluzoError>;

interface RunningTask {
  readonly attempt: Attempt;
  readonly done: Promise<void>;
}

/** Starts, resumes and cancels tasks. One task runs at a time: it is the workspace's one writer. */
export class TaskService {
  readonly #setup: TaskSetup;
  readonly #rest: RestServices;
  readonly #onDefect: (error: FluzoError) => void;
  /** A task that is being begun, or one at rest that is being cancelled: never both. */
  #changing: Promise<unknown> | null = null;
  #running: RunningTask | null = null;
  /** The end of the newest `stop`. */
  #stops: Promise<unknown> = Promise.resolve();

  constructor(
    setup: TaskSetup,
    { rest, onDefect }: {
      readonly rest: RestServices;
      /** Told what an attempt failed with that could not be recorded. */
      readonly onDefect: (error: FluzoError) => void;
    },
  ) {
    this.#setup = setup;
    this.#rest = rest;
    this.#onDefect = onDefect;
  }

  /** Starts a task and returns once its beginning is durable. */
  start(command: StartTask): Promise<Reply<"start_task">> {
    return this.#alone(() => this.#start(command));
  }

  /** Goes on with a blocked task in a new attempt; returns once its beginning is durable. */
  resume(command: ResumeTask): Promise<Reply<"resume_task">> {
    return this.#alone(() => this.#resume(command));
  }

  /**
   * Cancels or kills a task: the wish is durable first, then nothing more is begun. A task at rest
   * is cancelled at once. Repeating is harmless, and a cancelled task may still be killed.
   */
  stop(command: StopTask): Promise<Result<StopReply, FluzoError>> {
    // One after the other: of two that come together only the first changes anything.
    const done = this.#stops.then(() => this.#stop(command));
    this.#stops = done.catch(() => {});
    return done;
  }

  /** Resolves when no task runs. */
  async idle(): Promise<void> {
    await this.#running?.done;
  }

  /** The task that runs now, or null. */
  get current(): TaskId | null {
    return this.#running?.attempt.plan.taskId ?? null;
  }

  /** The open attempt of a task, or null when it does not run here and now. */
  attemptOf(taskId: TaskId): Attempt | null {
    const attempt = this.#running?.attempt;
    return attempt?.plan.taskId === taskId ? attempt : null;
  }

  async #stop(command: StopTask): Promise<Result<StopReply, FluzoError>> {
    // What is being begun may be this task.
    while (this.#changing !== null) await this.#changing;
    const attempt = this.attemptOf(command.taskId);
    if (attempt === null) return await this.#change(() => cancelAtRest(this.#rest, command));
    const { type, taskId, by } = command;
    const { cancel } = attempt;
    const force = type === "kill_task";
    const wishes: DomainEvent[] = [];
    if (cancel.by === null) wishes.push({ type: "cancel_requested", taskId, by });
    if (force && !cancel.forced.aborted) wishes.push({ type: "force_stop_requested", taskId, by });
    if (wishes.length === 0) return ok({ taskId, state: "stopping", changed: false });
    try {
      await attempt.journal.append(wishes);
      return ok({ taskId, state: "stopping", changed: true });
    } catch (failure) {
      if (failure instanceof FluzoFailure) return err(failure.error);
      throw failure;
    } finally {
      // Also without the record: stopping matters more than writing down why, and the task records
      // how it ended if it can.
      if (force) cancel.force(by);
      else cancel.cancel(by);
    }
  }

  /** Begins one task while nothing else runs or is being begun. */
  async #alone<T>(begin: () => Promise<Result<T, FluzoError>>): Promise<Result<T, FluzoError>> {
    if (this.#running !== null || this.#changing !== null) {
      return err({
        type: "owner_conflict",
        workspace: this.#setup.workspace.root,
        owner: { pid: Deno.pid, since: "its start", task: this.current ?? "" },
      });
    }
    return await this.#change(begin);
  }

  /** Does what decides about tasks at rest, one at a time. */
  async #change<T>(work: () => Promise<Result<T, FluzoError>>): Promise<Result<T, FluzoError>> {
    const settled = Promise.withResolvers<void>();
    this.#changing = settled.promise;
    try {
      return await work();
    } catch (failure) {
      if (failure instanceof FluzoFailure) return err(failure.error);
      throw failure;
    } finally {
      this.#changing = null;
      settled.resolve();
    }
  }

  async #start(command: StartTask): Promise<Reply<"start_task">> {
    const setup = this.#setup;
    const taskId = setup.ids.next("task");
    const sessionId = command.sessionId ?? setup.ids.next("session");
    const attemptId = setup.ids.next("attempt");
    const plan = setup.plan({ ...command, limits: null }, { taskId, sessionId, attemptId });
    if (!plan.ok) return plan;
    const touched = command.grants.flatMap((grant) => grant.type === "touch" ? [grant.path] : []);
    // Both look at the disk, and neither changes anything.
    const room = setup.room.forTask();
    const baseline = await setup.baseline({ touched, detail: "folders" });
    const full = await room;
    if (full !== null) return err(full);
    if (!baseline.ok) return baseline;
    const services = setup.services(baseline.value, new Set());
    const session = command.sessionId === null
      ? ok(null)
      : await readSession(this.#rest.reader, command.sessionId);
    if (!session.ok) return session;
    const { attempt, span } = await startAttempt({
      plan: plan.value,
      goal: command.goal,
      grants: command.grants,
      baseline: baseline.value,
      cancel: new CancelSignal(),
      instanceId: setup.instanceId,
      workspace: setup.workspace,
      snapshot: await setup.snapshot(),
      session: session.value,
    }, services);
    this.#run(attempt, { span, services, openCalls: [], note: null });
    return ok({ taskId, sessionId });
  }

  async #resume(command: ResumeTask): Promise<Reply<"resume_task">> {
    const full = await this.#setup.room.forTask();
    if (full !== null) return err(full);
    const prepared = await prepareResume(command, {
      setup: this.#setup,
      reader: this.#rest.reader,
    });
    if (!prepared.ok) return prepared;
    const { resume, services } = prepared.value;
    const { attempt, afterSequence, ...beginning } = await resumeAttempt(resume, services);
    this.#run(attempt, { ...beginning, services });
    const { taskId, sessionId } = resume.plan;
    return ok({ taskId, sessionId, differences: resume.differences, afterSequence });
  }

  #run(
    attempt: Attempt,
    { span, services, openCalls, note }: AttemptBeginning & {
      readonly span: Span;
      readonly services: AttemptServices;
    },
  ): void {
    const { effects, onTask } = this.#setup;
    const startMs = services.clock.monotonicMs();
    const done = runAttempt(attempt, { openCalls, note, effects }).then((result) => {
      span.end(result.error?.type ?? null);
      services.telemetry.record(
        METRICS.agentDuration,
        (services.clock.monotonicMs() - startMs) / 1000,
        {},
      );
    }, (failure: unknown) => {
      span.end("_OTHER");
      this.#onDefect(
        failure instanceof FluzoFailure ? failure.error : {
          type: "internal",
          detail: failure instanceof Error ? failure.message : String(failure),
        },
      );
      // Whoever follows the task would wait for its end for ever: this wakes them.
      services.updates.publish(attempt.plan.taskId, {
        type: "status",
        text: "The end of the task could not be recorded",
      });
    }).finally(() => {
      this.#running = null;
      onTask(null);
    });
    this.#running = { attempt, done };
    onTask(attempt.plan.taskId);
  }
}
