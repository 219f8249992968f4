import assert from "node:assert/strict";
import {
  type Command,
  ConsentStore,
  type Host,
  type HostOptions,
  loadConfig,
  openHost,
  randomIds,
  systemClock,
  type Update,
  workspaceIdentity,
} from "../../mod.ts";
import type { TaskId } from "../../src/core/ids.ts";
import type { TaskDetail } from "../../src/core/port/read_models.ts";
import type { Store } from "../../src/runtime/storage/client.ts";
import { RecordingTelemetry } from "../../src/runtime/telemetry/recording.ts";
import { TestFolder } from "./repository.ts";
import { ScriptedAdapter, type ScriptedTurn } from "./scripted_adapter.ts";

const CONFIG = `schema_version = 1
[models.coder]
provider = "openai_compatible"
base_url = "http://127.0.0.1:9/v1"
model = "m"
`;

/** A host on a throwaway repository whose model is a script. */
export class TestHost implements AsyncDisposable {
  readonly folder: TestFolder;
  readonly host: Host;
  readonly adapter: ScriptedAdapter;
  readonly telemetry: RecordingTelemetry;
  /** Another host has the folder now, and removes it. */
  #passedOn = false;

  private constructor(parts: Pick<TestHost, "folder" | "host" | "adapter" | "telemetry">) {
    this.folder = parts.folder;
    this.host = parts.host;
    this.adapter = parts.adapter;
    this.telemetry = parts.telemetry;
  }

  static async open(
    turns: readonly ScriptedTurn[],
    { prepare, wrapStore, variables, config: more = "" }: {
      readonly prepare?: (folder: TestFolder) => void;
      readonly wrapStore?: (store: Store) => Store;
      /** Environment variables in place of those of this process. */
      readonly variables?: (root: string) => Readonly<Record<string, string>>;
      /** More lines of the configuration. */
      readonly config?: string;
    } = {},
  ): Promise<TestHost> {
    const folder = new TestFolder();
    TestHost.prepare(folder, { config: more });
    prepare?.(folder);
    const adapter = new ScriptedAdapter(turns);
    const parts = await TestHost.attach(folder.path, {
      adapter,
      ...(wrapStore === undefined ? {} : { wrapStore }),
      ...(variables === undefined ? {} : { variables: variables(folder.path) }),
    });
    return new TestHost({ folder, adapter, ...parts });
  }

  /** Makes a folder a repository with a configuration. */
  static prepare(
    folder: TestFolder,
    { files = { "a.txt": "one\n" }, config = "" }: {
      readonly files?: Readonly<Record<string, string>>;
      readonly config?: string;
    } = {},
  ): void {
    folder.commit(files);
    folder.write(".git/info/exclude", "/.fluzodrive/\n/.home/\n");
    folder.write(".fluzo", CONFIG + config);
  }

  /** Closes the host and opens another on the same folder, as a later process would. */
  async reopen(turns: readonly ScriptedTurn[]): Promise<TestHost> {
    await this.host.shutdown("user");
    this.#passedOn = true;
    return await TestHost.adopt(this.folder, turns);
  }

  /** A host on a folder that was prepared; it removes the folder in the end. */
  static async adopt(folder: TestFolder, turns: readonly ScriptedTurn[]): Promise<TestHost> {
    const adapter = new ScriptedAdapter(turns);
    return new TestHost({ folder, adapter, ...await TestHost.attach(folder.path, { adapter }) });
  }

  /** Opens a host on a prepared folder and agrees to its configuration. */
  static async attach(
    root: string,
    { adapter, wrapStore, variables = {} }: {
      readonly adapter: ScriptedAdapter;
      readonly wrapStore?: (store: Store) => Store;
      readonly variables?: Readonly<Record<string, string>>;
    },
  ): Promise<Pick<TestHost, "host" | "telemetry">> {
    const config = await loadConfig(`${root}/.fluzo`, []);
    assert.ok(config.ok);
    const identity = await workspaceIdentity(root);
    const home = `${root}/.home`;
    await new ConsentStore(`${home}/consent`).grant(identity, {
      settings: config.value.settings,
      insecureOrigins: [],
    });
    const telemetry = new RecordingTelemetry(systemClock);
    const options: HostOptions = {
      identity,
      config: config.value,
      userPaths: {
        consent: `${home}/consent`,
        credentials: `${home}/auth.toml`,
        backups: `${home}/backups`,
      },
      variable: (name) => variables[name] ?? Deno.env.get(name) ?? null,
      version: "test",
      ports: { adapter, telemetry, ...(wrapStore === undefined ? {} : { wrapStore }) },
    };
    const host = await openHost(options);
    assert.ok(host.ok, JSON.stringify(host));
    return { host: host.value, telemetry };
  }

  /** Runs a task to its end and returns its updates. */
  async run(changes: Partial<Extract<Command, { type: "start_task" }>> = {}) {
    const command = startTask(changes);
    const started = await this.host.port.execute(command);
    assert.ok(started.ok, JSON.stringify(started));
    const { taskId } = started.value;
    const updates = await this.until(taskId, "task_ended");
    return { command, taskId, updates, task: await this.task(taskId) };
  }

  /** Goes on with a blocked task and returns its end. */
  async resume(
    taskId: TaskId,
    changes: Partial<Extract<Command, { type: "resume_task" }>> = {},
  ): Promise<{ readonly task: TaskDetail; readonly differences: readonly string[] }> {
    const resumed = await this.host.port.execute(resumeTask(taskId, changes));
    assert.ok(resumed.ok, JSON.stringify(resumed));
    await this.until(taskId, "task_ended");
    return { task: await this.task(taskId), differences: resumed.value.differences };
  }

  /** Waits for an event of a task that has not happened before; returns the updates on the way. */
  async until(taskId: TaskId, type: string): Promise<readonly Update[]> {
    const updates: Update[] = [];
    for await (const batch of this.host.port.subscribe(taskId)) {
      updates.push(...batch);
      if (batch.some((u) => u.type === "event" && u.envelope.event.type === type)) break;
    }
    return updates;
  }

  async task(taskId: TaskId): Promise<TaskDetail> {
    const detail = await this.host.port.query({ type: "show_task", taskId });
    assert.ok(detail.ok);
    return detail.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.shutdown("user");
    if (!this.#passedOn) this.folder[Symbol.dispose]();
  }
}

/** A command that starts a task, with a new id. */
export function startTask(
  changes: Partial<Extract<Command, { type: "start_task" }>> = {},
): Extract<Command, { type: "start_task" }> {
  return {
    type: "start_task",
    commandId: randomIds(systemClock).next("command"),
    goal: "do it",
    sessionId: null,
    model: null,
    grants: [],
    onAsk: "block",
    verification: null,
    yolo: false,
    ...changes,
  };
}

/** A turn of a scripted model that makes one call. */
export function call(name: string, args: unknown): ScriptedTurn {
  return { calls: [{ name, arguments: args }] };
}

/** A command that goes on with a task, with a new id. */
export function resumeTask(
  taskId: TaskId,
  changes: Partial<Extract<Command, { type: "resume_task" }>> = {},
): Extract<Command, { type: "resume_task" }> {
  return {
    type: "resume_task",
    commandId: randomIds(systemClock).next("command"),
    taskId,
    model: null,
    grants: [],
    onAsk: "block",
    yolo: false,
    decisions: [],
    ...changes,
  };
}
