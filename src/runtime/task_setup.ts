import type { Clock, Timers } from "../core/clock.ts";
import type { FluzoError } from "../core/errors.ts";
import type { IdSource, InstanceId, TaskId, WorkspaceId } from "../core/ids.ts";
import { err, ok, type Result } from "../core/result.ts";
import { type GrantRequest, parseExecGrant } from "../core/policy/grant_request.ts";
import type { Redactor } from "../core/text/redactor.ts";
import type { Telemetry } from "../core/telemetry/telemetry.ts";
import type { AdmissionQueue } from "./admission/admission_queue.ts";
import type { PlanRequest, TaskSetup } from "./application/task_setup.ts";
import type { UpdateHub } from "./application/update_hub.ts";
import { CONFIG_FILE } from "./config/load.ts";
import { fingerprintOf } from "./consent/consent_store.ts";
import { DATA_DIRECTORY } from "./data_directory_name.ts";
import type { AttemptPlan } from "./execution/attempt.ts";
import type { LiveOutputs } from "./execution/live_output.ts";
import { capacityOf, findChatModel, modelEndpoint } from "./execution/model_plan.ts";
import { userChangesOf } from "./execution/user_changes.ts";
import { type RepositoryView, takeBaseline } from "./execution/workspace_observer.ts";
import type { Git } from "./git/git_command.ts";
import {
  listFiles,
  readCommit,
  readCommitted,
  readDiff,
  readLog,
  readStatus,
  type RepositoryState,
} from "./git/repository.ts";
import { formatStatus } from "./git/format_status.ts";
import type { HostOptions } from "./host_options.ts";
import { commandRunner } from "./processes/command_runner.ts";
import type { OwnedProcesses } from "./processes/owned_processes.ts";
import type { ProviderGateway } from "./providers/gateway.ts";
import { StorageRoom } from "./storage/storage_room.ts";
import type { Store } from "./storage/client.ts";
import type { GitInspection, ToolCaps } from "./tools/effects.ts";
import { versionLedger } from "./tools/version_ledger.ts";
import type { StartFiles } from "./workspace/start_files.ts";

/** Everything a host has once it is open. */
export interface HostWorld {
  readonly options: HostOptions;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: IdSource;
  readonly telemetry: Telemetry;
  readonly git: Git | null;
  readonly files: StartFiles;
  readonly journal: Store;
  readonly updates: UpdateHub;
  readonly outputs: LiveOutputs;
  readonly processes: OwnedProcesses;
  readonly redactor: Redactor;
  /** Keys by model. */
  readonly secrets: ReadonlyMap<string, string | null>;
  /** The look at Git that began with the start; the first task uses it. */
  readonly firstLook: ReturnType<typeof readStatus>;
  readonly workspaceId: WorkspaceId;
  readonly instanceId: InstanceId;
  readonly admission: AdmissionQueue;
  readonly onTask: (taskId: TaskId | null) => void;
}

/** Puts together what a task starts with, from the settings and what the host has. */
export function taskSetup(world: HostWorld, gateway: ProviderGateway): TaskSetup {
  const { options, clock, timers, ids, telemetry, files, journal, updates, git } = world;
  const { settings } = options.config;
  const { identity } = options;
  const caps = toolCaps(settings);
  const commands = commandRunner({
    root: identity.root,
    processes: world.processes,
    clock,
    timers,
    graceMs: settings.tools.shell.termination_grace_seconds * 1000,
    environment: {
      variable: (name) => {
        const value = options.variable(name);
        return value === "denied" ? null : value;
      },
      inherit: settings.tools.shell.inherit_env,
      set: settings.tools.shell.env,
      secretNames: secretVariables(settings),
    },
  });
  const inspection = gitInspection(git);
  const room = new StorageRoom(`${identity.root}/${DATA_DIRECTORY}`, {
    limits: {
      maxBytes: settings.storage.session_max_bytes,
      minFreeBytes: settings.storage.min_free_bytes,
    },
    reader: journal,
  });
  let look: ReturnType<typeof readStatus> | null = world.firstLook;
  return {
    ids,
    instanceId: world.instanceId,
    workspace: { type: "workspace_recorded", workspaceId: world.workspaceId, ...identity },
    onTask: world.onTask,
    room,
    plan: (request, made) => planAttempt(world, { request, made }),
    baseline: async ({ touched, detail }) => {
      const first = detail === "folders" ? look : null;
      look = null;
      const state = await (first ?? readStatus(git, detail));
      return state.ok ? ok(await takeBaseline(toView(state.value), { files, touched })) : state;
    },
    services: (baseline, own) => ({
      clock,
      timers,
      ids,
      telemetry,
      writer: journal,
      reader: journal,
      room,
      updates,
      outputs: world.outputs,
      gateway,
      redactor: world.redactor,
      warmUp: files.warmUp,
      effects: {
        root: identity.root,
        files,
        commands,
        git: inspection,
        versions: versionLedger(),
        caps,
        userChanges: userChangesOf(baseline, own),
      },
    }),
    snapshot: async () => ({
      id: ids.next("snapshot"),
      fingerprint: await fingerprintOf(settings),
      settings,
    }),
    effects: {
      files,
      look: async () => {
        const state = await readStatus(git, "files");
        return state.ok ? ok(toView(state.value)) : state;
      },
      committed: (path) => readCommitted(git, path),
    },
  };
}

type Settings = HostOptions["config"]["settings"];

function planAttempt(
  { options, secrets }: HostWorld,
  { request, made }: {
    readonly request: PlanRequest;
    readonly made: Parameters<TaskSetup["plan"]>[1];
  },
): Result<AttemptPlan, FluzoError> {
  const { settings } = options.config;
  const modelKey = request.model ?? settings.agent.model;
  const model = findChatModel(settings, modelKey);
  if (!model.ok) return model;
  const { harness, policy } = settings;
  const standing: GrantRequest[] = [];
  for (const text of policy.allow_exec) {
    const grant = parseExecGrant(text);
    // Checked when the configuration was loaded: what cannot be parsed got past that.
    if (!grant.ok) return err({ type: "internal", detail: `policy.allow_exec: ${grant.error}` });
    standing.push(grant.value);
  }
  return ok({
    ...made,
    ...capacityOf(modelKey, model.value),
    onAsk: request.onAsk,
    yolo: request.yolo,
    verification: request.verification ?? settings.verify.command,
    endpoint: modelEndpoint(modelKey, {
      model: model.value,
      apiKey: secrets.get(modelKey) ?? null,
    }),
    contextWindow: model.value.context_window,
    maxOutputTokens: model.value.max_output_tokens,
    maxRetries: harness.provider_retries,
    limits: request.limits ?? {
      maxTurns: harness.max_turns,
      maxActiveSeconds: harness.max_active_seconds,
      maxToolCalls: harness.max_tool_calls,
      maxTotalTokens: harness.max_total_tokens,
    },
    policy: {
      edit: policy.edit,
      shell: policy.shell,
      gitCommit: policy.git_commit,
      gitPush: policy.git_push,
    },
    standingGrants: standing,
  });
}

function toolCaps({ context, harness }: Settings): ToolCaps {
  return {
    contextBytes: context.tool_context_max_bytes,
    captureBytes: context.tool_capture_max_bytes,
    shellTimeoutMs: harness.shell_timeout_seconds * 1000,
  };
}

/** Variables that hold keys of servers: no child gets them. */
function secretVariables({ models }: Settings): ReadonlySet<string> {
  return new Set(
    Object.values(models).flatMap((model) => model.api_key_env === null ? [] : [model.api_key_env]),
  );
}

/** The workspace as tasks see it: Fluzo's own files are out of their reach, and no part of it. */
function toView(state: RepositoryState): RepositoryView {
  if (state.git === "none") return { git: "none", head: null, branch: null, entries: [] };
  const entries = state.entries.filter(({ path }) =>
    path !== CONFIG_FILE && path.split("/")[0] !== DATA_DIRECTORY
  );
  return { git: state.git, head: state.head, branch: state.branch, entries };
}

function gitInspection(git: Git | null): GitInspection {
  const none = () =>
    Promise.resolve(
      {
        ok: false,
        error: { type: "git", command: "", detail: "this folder is not a Git repository" },
      } as const,
    );
  return {
    candidates: () => listFiles(git),
    status: async () => {
      const state = await readStatus(git, "folders");
      return state.ok ? ok(formatStatus(state.value)) : state;
    },
    diff: (path) => git === null ? none() : readDiff(git, path),
    log: (path, count) => git === null ? none() : readLog(git, { path, count }),
    show: (revision) => git === null ? none() : readCommit(git, revision),
  };
}
