import type { Message } from "../../core/conversation/message.ts";
import type { Digest } from "../../core/digest.ts";
import { type FluzoError, FluzoFailure } from "../../core/errors.ts";
import type { Baseline, DomainEvent } from "../../core/events/event.ts";
import type {
  AttemptId,
  CommandId,
  IdSource,
  InstanceId,
  SessionId,
  SnapshotId,
  TaskId,
} from "../../core/ids.ts";
import type { Command, CommandReplies } from "../../core/port/application.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { METRICS } from "../../core/telemetry/names.ts";
import { type AttemptPlan, type AttemptServices, CancelSignal } from "../execution/attempt.ts";
import type { ResultEffects } from "../execution/result.ts";
import { startAttempt } from "../execution/start_attempt.ts";
import { runAttempt } from "../execution/task_run.ts";
import { TaskJournal } from "../execution/task_journal.ts";

type StartTask = Extract<Command, { type: "start_task" }>;
type CancelTask = Extract<Command, { type: "cancel_task" }>;

/** Commands whose replies are remembered, so that a repeat is answered instead of done again. */
const MAX_REMEMBERED_COMMANDS = 256;

/** Bytes of earlier conversation that go on with a session; older messages are left out. */
const MAX_HISTORY_BYTES = 1 << 20;

/** What a task gets from the host when it starts. */
export interface TaskSetup {
  /** Settings, consent and credentials, resolved for one task; an error starts nothing. */
  plan(
    command: StartTask,
    ids: {
      readonly taskId: TaskId;
      readonly sessionId: SessionId;
      readonly attemptId: AttemptId;
    },
  ): Promise<Result<AttemptPlan, FluzoError>>;
  /** A look at the workspace before anything is done to it. */
  baseline(): Promise<Result<Baseline, FluzoError>>;
  /** Services of one attempt; its tools know what the user had changed. */
  services(baseline: Baseline): AttemptServices;
  snapshot(): Promise<{
    readonly id: SnapshotId;
    readonly fingerprint: Digest;
    readonly settings: unknown;
  }>;
  readonly effects: ResultEffects;
  readonly ids: IdSource;
  readonly instanceId: InstanceId;
  readonly workspace: Extract<DomainEvent, { type: "workspace_recorded" }>;
  /** Told which task works now, or that none does, for whoever is refused meanwhile. */
  readonly onTask: (taskId: TaskId | null) => void;
}

interface RunningTask {
  readonly taskId: TaskId;
  readonly cancel: CancelSignal;
  readonly journal: TaskJournal;
  readonly done: Promise<void>;
}

/** Starts and cancels tasks. One task runs at a time: it is the workspace's one writer. */
export class TaskService {
  readonly #setup: TaskSetup;
  readonly #replies = new Map<
    CommandId,
    Promise<Result<CommandReplies["start_task"], FluzoError>>
  >();
  readonly #onDefect: (error: FluzoError) => void;
  #starting = false;
  #running: RunningTask | null = null;

  constructor(setup: TaskSetup, onDefect: (error: FluzoError) => void) {
    this.#setup = setup;
    this.#onDefect = onDefect;
  }

  /** Starts a task and returns once its beginning is durable. */
  start(command: StartTask): Promise<Result<CommandReplies["start_task"], FluzoError>> {
    const known = this.#replies.get(command.commandId);
    if (known !== undefined) return known;
    const reply = this.#start(command);
    this.#replies.set(command.commandId, reply);
    const oldest = this.#replies.keys().next();
    if (this.#replies.size > MAX_REMEMBERED_COMMANDS && !oldest.done) {
      this.#replies.delete(oldest.value);
    }
    return reply;
  }

  /** Cancels a task: the wish is durable first, then nothing more is begun. Repeating is harmless. */
  async cancel(command: CancelTask): Promise<Result<CommandReplies["cancel_task"], FluzoError>> {
    const running = this.#running;
    if (running === null || running.taskId !== command.taskId) {
      return err({ type: "not_found", what: "task", id: command.taskId });
    }
    if (running.cancel.by !== null) return ok({ taskId: running.taskId });
    try {
      await running.journal.append([
        { type: "cancel_requested", taskId: running.taskId, by: command.by },
      ]);
    } catch (failure) {
      // Stopping matters more than writing down why: the task records how it ended if it can.
      running.cancel.cancel(command.by);
      if (failure instanceof FluzoFailure) return err(failure.error);
      throw failure;
    }
    running.cancel.cancel(command.by);
    return ok({ taskId: running.taskId });
  }

  /** Resolves when no task runs. */
  async idle(): Promise<void> {
    await this.#running?.done;
  }

  /** The task that runs now, or null. */
  get current(): TaskId | null {
    return this.#running?.taskId ?? null;
  }

  async #start(command: StartTask): Promise<Result<CommandReplies["start_task"], FluzoError>> {
    if (this.#running !== null || this.#starting) {
      return err({
        type: "owner_conflict",
        workspace: this.#setup.workspace.root,
        owner: {
          pid: Deno.pid,
          since: "its start",
          task: this.#running === null ? "" : this.#running.taskId,
        },
      });
    }
    this.#starting = true;
    try {
      return await this.#begin(command);
    } catch (failure) {
      if (failure instanceof FluzoFailure) return err(failure.error);
      throw failure;
    } finally {
      this.#starting = false;
    }
  }

  async #begin(command: StartTask): Promise<Result<CommandReplies["start_task"], FluzoError>> {
    const setup = this.#setup;
    const taskId = setup.ids.next("task");
    const sessionId = command.sessionId ?? setup.ids.next("session");
    const attemptId = setup.ids.next("attempt");
    const [plan, baseline] = await Promise.all([
      setup.plan(command, { taskId, sessionId, attemptId }),
      setup.baseline(),
    ]);
    if (!plan.ok) return plan;
    if (!baseline.ok) return baseline;
    const services = setup.services(baseline.value);
    const history = await this.#history(command, services);
    if (!history.ok) return history;
    const cancel = new CancelSignal();
    const { attempt, span } = await startAttempt({
      plan: plan.value,
      goal: command.goal,
      grants: command.grants,
      baseline: baseline.value,
      cancel,
      instanceId: setup.instanceId,
      workspace: setup.workspace,
      snapshot: await setup.snapshot(),
      history: history.value,
    }, services);
    const startMs = services.clock.monotonicMs();
    const done = runAttempt(attempt, setup.effects).then((result) => {
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
    }).finally(() => {
      this.#running = null;
      setup.onTask(null);
    });
    this.#running = { taskId, cancel, journal: attempt.journal, done };
    setup.onTask(taskId);
    return ok({ taskId, sessionId });
  }

  async #history(
    command: StartTask,
    services: AttemptServices,
  ): Promise<Result<readonly Message[] | null, FluzoError>> {
    if (command.sessionId === null) return ok(null);
    const read = await services.reader.messages(command.sessionId, MAX_HISTORY_BYTES);
    return read.ok ? ok(read.value.messages) : read;
  }
}
