/**
 * A Fluzo that kills itself at a boundary of the journal. Arguments: workspace root, private folder
 * for the user's files, boundary, which operation (0, 1, ...), the script of the command. Prints one
 * line for each batch the store acknowledged, before anything else happens.
 */
import type { DomainEvent } from "../../src/core/events/event.ts";
import { loadConfig } from "../../src/runtime/config/load.ts";
import { ConsentStore } from "../../src/runtime/consent/consent_store.ts";
import { openHost } from "../../src/runtime/host.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import type { Store } from "../../src/runtime/storage/client.ts";
import { systemClock } from "../../src/runtime/system_clock.ts";
import { workspaceIdentity } from "../../src/runtime/workspace/identity.ts";
import { ScriptedAdapter, type ScriptedTurn } from "./scripted_adapter.ts";

const [root = "", home = "", boundary = "", operation = "0", shell = "echo ran >> ran.txt"] =
  Deno.args;

/** The event whose append each boundary is about, and on which side of it the process dies. */
const BOUNDARIES: Readonly<Record<string, readonly [DomainEvent["type"], "before" | "after"]>> = {
  before_intent: ["operation_intended", "before"],
  after_intent: ["operation_intended", "after"],
  after_dispatch: ["operation_dispatched", "after"],
  before_process: ["process_started", "before"],
  after_process: ["process_started", "after"],
  after_effect: ["operation_finished", "before"],
  after_result: ["operation_finished", "after"],
};

const SCRIPT: readonly ScriptedTurn[] = [
  { calls: [{ name: "read", arguments: { path: "a.txt" } }] },
  { calls: [{ name: "edit", arguments: { path: "a.txt", old_text: "one", new_text: "two" } }] },
  { calls: [{ name: "shell", arguments: { script: shell } }] },
  { text: "done" },
];

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  // The signal is on its way; nothing else may happen until it is here.
  while (true);
}

function wrap(store: Store): Store {
  let seen = 0;
  const [type, side] = BOUNDARIES[boundary] ?? ["session_created", "before"];
  const append: Store["append"] = async (drafts) => {
    const here = drafts.some(({ event }) => event.type === type) && seen++ === Number(operation);
    if (here && side === "before") die();
    const result = await store.append(drafts);
    if (result.ok) {
      const line = `${result.value.lastSequence} ${drafts.map((d) => d.event.type).join(",")}\n`;
      Deno.stdout.writeSync(new TextEncoder().encode(line));
    }
    if (here) die();
    return result;
  };
  return new Proxy(store, {
    get: (target, key) => {
      if (key === "append") return append;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const config = await loadConfig(`${root}/.fluzo`, []);
if (!config.ok) throw new Error(JSON.stringify(config.error));
const identity = await workspaceIdentity(root);
await new ConsentStore(`${home}/consent`).grant(identity, {
  settings: config.value.settings,
  insecureOrigins: [],
});
const host = await openHost({
  identity,
  config: config.value,
  userPaths: {
    consent: `${home}/consent`,
    credentials: `${home}/auth.toml`,
    backups: `${home}/backups`,
  },
  variable: (name) => Deno.env.get(name) ?? null,
  version: "test",
  ports: { adapter: new ScriptedAdapter(SCRIPT), wrapStore: wrap },
});
if (!host.ok) throw new Error(JSON.stringify(host.error));
const started = await host.value.port.execute({
  type: "start_task",
  commandId: randomIds(systemClock).next("command"),
  goal: "crash",
  sessionId: null,
  model: null,
  grants: [{ type: "shell", script: shell }],
  onAsk: "block",
  verification: null,
  yolo: false,
});
if (!started.ok) throw new Error(JSON.stringify(started.error));
const subscription = host.value.port.subscribe(started.value.taskId);
for await (const updates of subscription) {
  if (updates.some((u) => u.type === "event" && u.envelope.event.type === "task_ended")) break;
}
await host.value.shutdown("user");
Deno.exit(0);
