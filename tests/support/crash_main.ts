/**
 * A Fluzo that kills itself. Arguments: workspace root; a `KillPoint` as JSON, or `null` to live; the
 * script of the only command, if it is not to be the whole story. Prints one line of JSON for each
 * batch that the store acknowledged, before anything else happens.
 */
import { approvalKey } from "../../src/core/policy/scope.ts";
import type { ApplicationPort } from "../../src/core/port/application.ts";
import type { TaskId } from "../../src/core/ids.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import type { Store } from "../../src/runtime/storage/client.ts";
import { systemClock } from "../../src/runtime/system_clock.ts";
import type { Acknowledged, KillPoint } from "./crash.ts";
import { CRASH_GRANTS, CRASH_SCRIPT } from "./crash_script.ts";
import { ScriptedAdapter } from "./scripted_adapter.ts";
import { call, startTask, TestHost } from "./test_host.ts";

const [root = "", point = "null", shell = null] = Deno.args;
const turns = shell === null ? CRASH_SCRIPT : [call("shell", { script: shell }), { text: "done" }];
const grants = shell === null ? CRASH_GRANTS : [{ type: "shell", script: shell } as const];
const kill = JSON.parse(point) as KillPoint | null;
let appends = 0;
let artifacts = 0;
let dispatches = 0;
const seen = new Map<string, number>();

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  // The signal is on its way; nothing else may happen until it is here.
  while (true);
}

/** Lets the workers and children go on for a while, and nothing of this isolate. */
function spin(micros: number): void {
  const end = performance.now() + micros / 1000;
  while (performance.now() < end);
}

/** Turns of the microtask queue in which whoever waits for an append has sent the effect off. */
const TURNS = 64;

async function dieSoon(micros: number): Promise<never> {
  for (let turn = 0; turn < TURNS; turn++) await null;
  spin(micros);
  die();
}

/** Whether this batch is the one to die at. */
function isMeant(types: readonly string[]): boolean {
  const index = appends++;
  if (kill?.at === "append") return index === kill.index;
  if (kill?.at !== "event") return false;
  const type = kill.type;
  if (!types.includes(type)) return false;
  const count = seen.get(type) ?? 0;
  seen.set(type, count + 1);
  return count === kill.index;
}

function wrap(store: Store): Store {
  const append: Store["append"] = async (drafts) => {
    const types = drafts.map(({ event }) => event.type);
    const side = isMeant(types) && (kill?.at === "append" || kill?.at === "event")
      ? kill.side
      : null;
    if (side === "before") die();
    const written = store.append(drafts);
    if (side !== null && typeof side === "object") {
      spin(side.duringMicros);
      die();
    }
    const result = await written;
    if (result.ok) {
      const line: Acknowledged = { lastSequence: result.value.lastSequence, types };
      Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
    }
    if (side === "after") die();
    if (types.includes("operation_dispatched") && kill?.at === "effect") {
      if (dispatches++ === kill.index) dieSoon(kill.micros);
    }
    return result;
  };
  const putArtifact: Store["putArtifact"] = async (artifact, bytes) => {
    const here = kill?.at === "artifact" && artifacts++ === kill.index;
    const written = store.putArtifact(artifact, bytes);
    if (here) {
      spin(kill.micros);
      die();
    }
    return await written;
  };
  return new Proxy(store, {
    get: (target, key) => {
      if (key === "append") return append;
      if (key === "putArtifact") return putArtifact;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Says yes to whatever waits. */
async function approve(port: ApplicationPort, taskId: TaskId): Promise<void> {
  const waiting = await port.query({ type: "list_approvals", taskId });
  if (!waiting.ok) throw new Error(JSON.stringify(waiting.error));
  for (const { id, scope } of waiting.value) {
    await port.execute({
      type: "approve_operation",
      commandId: randomIds(systemClock).next("command"),
      operationId: id,
      seen: approvalKey(scope),
    });
  }
}

const { host } = await TestHost.attach(root, {
  adapter: new ScriptedAdapter(turns),
  wrapStore: wrap,
});
const started = await host.port.execute(
  startTask({ goal: "crash", grants, onAsk: "wait", verification: ["true"] }),
);
if (!started.ok) throw new Error(JSON.stringify(started.error));
const { taskId } = started.value;
for await (const updates of host.port.subscribe(taskId)) {
  const events = updates.flatMap((u) => u.type === "event" ? [u.envelope.event] : []);
  if (events.some(({ type }) => type === "task_ended")) break;
  if (events.some((e) => e.type === "task_moved" && e.to === "waiting")) {
    await approve(host.port, taskId);
  }
}
await host.shutdown("user");
Deno.exit(0);
