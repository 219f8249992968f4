import assert from "node:assert/strict";
import type { OperationState } from "../../src/core/lifecycle/operation.ts";
import type { OperationDetail, TaskSummary } from "../../src/core/port/read_models.ts";
import { recordInterrupted } from "../../src/runtime/application/recovery.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import { openStore, type Store } from "../../src/runtime/storage/client.ts";
import { systemClock, systemTimers } from "../../src/runtime/system_clock.ts";
import { permissionFlags } from "../../src/cli/permissions.ts";
import { TestFolder } from "../support/repository.ts";

/** Operations of the script in `crash_main.ts`: 0 reads, 1 edits a.txt, 2 appends to ran.txt. */
const EDIT = 1;
const COMMAND = 2;

interface Crash {
  readonly acknowledged: number;
  readonly folder: TestFolder;
}

async function crash(folder: TestFolder, boundary: string, operation: number): Promise<Crash> {
  folder.commit({ "a.txt": "one\n" });
  folder.write(
    ".fluzo",
    'schema_version = 1\n[models.coder]\nprovider = "openai_compatible"\n' +
      'base_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n',
  );
  folder.write(".git/info/exclude", "/.fluzodrive/\n/.home/\n");
  const { stdout, signal, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      ...permissionFlags(),
      "tests/support/crash_main.ts",
      folder.path,
      `${folder.path}/.home`,
      boundary,
      String(operation),
    ],
    stdin: "null",
  }).output();
  assert.equal(signal, "SIGKILL", new TextDecoder().decode(stderr));
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  const acknowledged = Number(lines.at(-1)?.split(" ")[0] ?? 0);
  assert.ok(acknowledged > 0);
  return { acknowledged, folder };
}

async function open(folder: TestFolder, mode: "read" | "write"): Promise<Store> {
  const directory = `${folder.path}/.fluzodrive`;
  const opened = await openStore({ directory, mode, ownerAlive: () => false }).opened;
  assert.ok(opened.ok, JSON.stringify(opened));
  return opened.value;
}

async function look(store: Store): Promise<{
  readonly task: TaskSummary;
  readonly operations: readonly OperationDetail[];
  readonly lastSequence: number;
}> {
  const tasks = await store.tasks(null, 10);
  assert.ok(tasks.ok && tasks.value.items.length === 1);
  const task = tasks.value.items[0];
  assert.ok(task !== undefined);
  const operations = await store.operations(task.id, { after: null, limit: 50 });
  assert.ok(operations.ok);
  let lastSequence = 0;
  for (let more = true; more;) {
    const events = await store.events(task.id, { afterSequence: lastSequence, limit: 100 });
    assert.ok(events.ok);
    lastSequence = events.value.items.at(-1)?.sequence ?? lastSequence;
    more = events.value.next !== null;
  }
  return { task, operations: operations.value.items, lastSequence };
}

/** What must be true after a kill: state of the operation (null: not in the journal) and effect. */
const EXPECTED: readonly (readonly [
  boundary: string,
  state: OperationState | null,
  effect: boolean,
])[] = [
  ["before_intent", null, false],
  ["after_intent", "unknown", false],
  ["after_dispatch", "unknown", false],
  ["after_effect", "unknown", true],
  ["after_result", "known_result", true],
];

for (const [name, operation] of [["an edit", EDIT], ["a command", COMMAND]] as const) {
  for (const [boundary, state, effect] of EXPECTED) {
    Deno.test(`SIGKILL ${boundary} of ${name} leaves the truth in the journal`, async () => {
      using folder = new TestFolder();
      const { acknowledged } = await crash(folder, boundary, operation);
      const happened = operation === EDIT
        ? folder.read("a.txt") === "two\n"
        : folder.exists("ran.txt");
      assert.equal(happened, effect, "effect");

      // A reader derives what became of it and writes nothing.
      const reader = await open(folder, "read");
      const derived = await look(reader);
      await reader.close();
      assert.ok(derived.lastSequence >= acknowledged, "an acknowledged event is missing");
      assert.equal(derived.task.derived, "interrupted");
      const found = derived.operations[operation];
      assert.equal(found === undefined ? null : found.derived ?? found.state, state);

      // The next owner writes it down; a second one finds nothing left to write.
      const owner = await open(folder, "write");
      const services = { clock: systemClock, ids: randomIds(systemClock), timers: systemTimers };
      await recordInterrupted(owner, services);
      const recorded = await look(owner);
      await recordInterrupted(owner, services);
      const again = await look(owner);
      await owner.close();
      assert.equal(recorded.task.state, "blocked");
      assert.equal(recorded.task.reason, "interrupted");
      assert.equal(recorded.operations[operation]?.state ?? null, state);
      assert.deepEqual(again, recorded, "recovery is not idempotent");

      // Nothing was replayed and nothing repaired.
      const stillHappened = operation === EDIT
        ? folder.read("a.txt") === "two\n"
        : folder.exists("ran.txt") && folder.read("ran.txt") === "ran\n";
      assert.equal(stillHappened, effect);
    });
  }
}
