import type { Timers } from "../core/clock.ts";
import { type FluzoError, FluzoFailure } from "../core/errors.ts";
import type { CommandId, OperationId, TaskId } from "../core/ids.ts";
import type { ApplicationPort } from "../core/port/application.ts";
import { err, ok, type Result } from "../core/result.ts";
import { createRedactor } from "../core/text/redactor.ts";
import { AdmissionQueue } from "./admission/admission_queue.ts";
import { CommandLog } from "./application/command_log.ts";
import { executeCommand } from "./application/commands.ts";
import { History } from "./application/history.ts";
import { answerQuery } from "./application/queries.ts";
import { TaskAnswers } from "./application/task_answers.ts";
import { TaskSteering } from "./application/task_steering.ts";
import { TaskService } from "./application/task_service.ts";
import { UpdateHub } from "./application/update_hub.ts";
import { ConsentStore } from "./consent/consent_store.ts";
import { resolveCredential } from "./consent/credentials.ts";
import { ControlServer } from "./control/server.ts";
import { admissionLimits, findChatModel } from "./execution/model_plan.ts";
import { leftEvents } from "./execution/left_events.ts";
import { LiveOutputs } from "./execution/live_output.ts";
import { readStatus, readTracking } from "./git/repository.ts";
import { restingJournal, type TaskJournal } from "./execution/task_journal.ts";
import { ownJournal } from "./own_journal.ts";
import { OwnedProcesses } from "./processes/owned_processes.ts";
import { ChatCompletionsAdapter } from "./providers/chat_completions/adapter.ts";
import { ProviderGateway } from "./providers/gateway.ts";
import { removeProxyVariables } from "./providers/proxy_environment.ts";
import { randomIds } from "./random_ids.ts";
import type { Store } from "./storage/client.ts";
import { hasJournal } from "./storage/data_directory.ts";
import { systemClock, systemTimers } from "./system_clock.ts";
import { discardingTelemetry } from "./telemetry/discarding.ts";
import { type StartFiles, startFiles } from "./workspace/start_files.ts";
import { workspaceId } from "./workspace/identity.ts";
import { DATA_DIRECTORY } from "./data_directory_name.ts";
import type { WorkspaceOwnership } from "./workspace/ownership.ts";
import { openGit } from "./git/open_git.ts";
import type { HostOptions } from "./host_options.ts";
import { type HostWorld, taskSetup } from "./task_setup.ts";

/** How long a shutdown waits for a cancelled task to record its end, in milliseconds. */
const SHUTDOWN_WAIT_MS = 10_000;

/** A runtime on one workspace, of which it is the one owner. */
export interface Host {
  readonly port: ApplicationPort;
  /**
   * Cancels what runs, ends owned processes, and lets the workspace go. Asked again, or for a task
   * that was cancelled before, it ends by force what has not ended yet.
   */
  shutdown(by: "user" | "SIGINT" | "SIGTERM" | "SIGHUP"): Promise<void>;
  /** Errors that could not be recorded in the journal. */
  readonly defects: readonly FluzoError[];
}

/**
 * Starts the runtime on a workspace: checks the consent, looks at Git, takes the ownership, opens
 * the journal and writes down what an earlier process left unfinished. What can go on at the same
 * time does. Nothing is contacted.
 */
export async function openHost(options: HostOptions): Promise<Result<Host, FluzoError>> {
  removeProxyVariables();
  const { identity, config } = options;
  const { root } = identity;
  const clock = options.ports?.clock ?? systemClock;
  const timers = options.ports?.timers ?? systemTimers;
  const refused = await checkConsent(options);
  if (refused !== null) return err(refused);
  const secrets = await resolveSecrets(options);
  if (!secrets.ok) return secrets;
  const git = await openGit({ root, variable: options.variable, timers, clock });
  // Git works in processes of its own while this one starts the store worker.
  const directory = `${root}/${DATA_DIRECTORY}`;
  const looking = readStatus(git, "folders");
  const tracking = readTracking(git, { path: DATA_DIRECTORY, filled: hasJournal(directory) });
  const files = startFiles(root, {
    protectedPaths: [options.userPaths.credentials, options.userPaths.consent],
  });
  const ids = options.ports?.ids ?? randomIds(clock);
  const instanceId = ids.next("instance");
  const opening = ownJournal({ directory, root, tracking, clock, instanceId, files });
  const opened = files.open();
  const store = await opening;
  if (!store.ok) {
    files.close();
    return store;
  }
  if (!opened.ok) {
    await store.value.store.close();
    store.value.ownership.release();
    return opened;
  }
  const journal = options.ports?.wrapStore?.(store.value.store) ?? store.value.store;
  const world: HostWorld = {
    options,
    clock,
    timers,
    ids,
    telemetry: options.ports?.telemetry ?? discardingTelemetry(),
    git,
    files,
    journal,
    updates: new UpdateHub(),
    outputs: new LiveOutputs(timers),
    processes: new OwnedProcesses({ clock, timers, adoption: options.adoption ?? "proven" }),
    redactor: createRedactor([...secrets.value.values()].filter((secret) => secret !== null)),
    secrets: secrets.value,
    firstLook: looking,
    workspaceId: await workspaceId(identity),
    instanceId,
    admission: new AdmissionQueue(admissionLimits(config.settings), { clock, timers }),
    onTask: (taskId) => store.value.ownership.describe(taskId),
  };
  return ok(runningHost(world, { ownership: store.value.ownership, store: journal, files }));
}

function runningHost(
  world: HostWorld,
  { ownership, store, files }: {
    readonly ownership: WorkspaceOwnership;
    readonly store: Store;
    readonly files: StartFiles;
  },
): Host {
  const { clock, timers, ids, telemetry, admission, redactor, options } = world;
  const gateway = new ProviderGateway({
    adapter: options.ports?.adapter ?? new ChatCompletionsAdapter({
      clock,
      timers,
      redact: redactor.redact,
      userAgent: `fluzo/${options.version}`,
    }),
    admission,
    clock,
    timers,
    ids,
    telemetry,
  });
  const defects: FluzoError[] = [];
  const resting = restingJournal({ writer: store, updates: world.updates, clock, ids });
  const tasks = new TaskService(taskSetup(world, gateway), {
    rest: { reader: store, resting },
    onDefect: (error) => defects.push(error),
  });
  const services = {
    reader: store,
    ids,
    resting,
    attemptOf: (taskId: TaskId) => tasks.attemptOf(taskId),
  };
  const steering = new TaskSteering(services);
  const log = new CommandLog();
  const history = new History({ journal: store, resting });
  const handlers = { tasks, answers: new TaskAnswers(services), steering, history, log };
  const sources = {
    reader: store,
    queued: (taskId: TaskId) => steering.queued(taskId),
    commandStatus: (id: CommandId) => log.status(id),
    output: (operationId: OperationId) => world.outputs.read(operationId),
  };
  const port: ApplicationPort = {
    execute: (command) => executeCommand(handlers, command),
    query: (query) => answerQuery(sources, query),
    subscribe: (taskId) => world.updates.subscribe(taskId),
  };
  const control = openControl(world, { port, ownership });
  let closing: Promise<void> | null = null;
  const impatient = new AbortController();
  const shutdown: Host["shutdown"] = (by) => {
    // Whoever asks again waits no longer for what was asked to end.
    const attempt = tasks.current === null ? null : tasks.attemptOf(tasks.current);
    if (attempt !== null && attempt.cancel.by !== null) attempt.cancel.force(by);
    if (closing !== null) impatient.abort();
    closing ??= (async () => {
      const running = tasks.current;
      if (running !== null) {
        await tasks.stop({
          type: "cancel_task",
          commandId: ids.next("command"),
          taskId: running,
          by,
        });
        await within(tasks.idle(), timers);
      }
      try {
        await endCommands(world, {
          resting: services.resting,
          defects,
          force: impatient.signal,
        });
      } finally {
        await control?.close();
        await store.close();
        files.close();
        ownership.release();
      }
    })();
    return closing;
  };
  return { port, shutdown, defects };
}

/** Lets other processes of the user steer what runs here. */
function openControl(
  { workspaceId, instanceId, timers, options }: HostWorld,
  { port, ownership }: {
    readonly port: ApplicationPort;
    readonly ownership: WorkspaceOwnership;
  },
): ControlServer | null {
  const runtimeDirectory = options.variable("XDG_RUNTIME_DIR");
  return ControlServer.open({ port, workspaceId, instanceId, timers }, {
    place: {
      runtimeDirectory: runtimeDirectory === "denied" ? null : runtimeDirectory,
      dataDirectory: `${options.identity.root}/${DATA_DIRECTORY}`,
    },
    announce: (place) => ownership.announce(place),
  });
}

/** Ends what commands left, and writes down what became of it. */
async function endCommands(
  { processes, options, redactor }: HostWorld,
  { resting, defects, force }: {
    readonly resting: TaskJournal;
    readonly defects: FluzoError[];
    readonly force: AbortSignal;
  },
): Promise<void> {
  const ended = await processes.endAll({
    graceMs: options.config.settings.tools.shell.termination_grace_seconds * 1000,
    force,
  });
  const events = leftEvents(ended, redactor.redact);
  if (events.length === 0) return;
  try {
    await resting.append(events);
  } catch (failure) {
    if (!(failure instanceof FluzoFailure)) throw failure;
    defects.push(failure.error);
  }
}

async function checkConsent(options: HostOptions): Promise<FluzoError | null> {
  const { settings } = options.config;
  const store = new ConsentStore(options.userPaths.consent);
  const status = await store.status(options.identity, settings);
  const model = findChatModel(settings, settings.agent.model);
  const destination = model.ok ? new URL(model.value.base_url).origin : "the server";
  switch (status.type) {
    case "granted":
      return null;
    case "missing":
      return { type: "consent_required", state: "missing", destination };
    case "changed":
      return { type: "consent_required", state: "changed", destination };
    case "insecure":
      return { type: "consent_required", state: "missing", destination: status.origin };
    case "unusable":
      return {
        type: "storage",
        reason: "not_private",
        path: status.problem.path,
        detail: status.problem.reason,
      };
  }
}

/** The keys of all chat models, by model; null where none is needed. */
async function resolveSecrets(
  { config, userPaths, variable }: HostOptions,
): Promise<Result<ReadonlyMap<string, string | null>, FluzoError>> {
  const secrets = new Map<string, string | null>();
  for (const [id, model] of Object.entries(config.settings.models)) {
    if (model.provider !== "openai_compatible") continue;
    const secret = await resolveCredential(id, {
      model,
      origin: new URL(model.base_url).origin,
      sources: { configPath: config.path, authPath: userPaths.credentials, variable },
    });
    if (!secret.ok) return secret;
    secrets.set(id, secret.value);
  }
  return ok(secrets);
}

function within(work: Promise<void>, timers: Timers): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.after(SHUTDOWN_WAIT_MS, resolve);
    work.finally(() => {
      cancel();
      resolve();
    });
  });
}
