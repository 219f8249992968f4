import assert from "node:assert/strict";
import type { DomainEvent } from "../../src/core/events/event.ts";
import type { OperationState } from "../../src/core/lifecycle/operation.ts";
import type { OperationDetail, TaskSummary } from "../../src/core/port/read_models.ts";
import { recordInterrupted } from "../../src/runtime/application/recovery.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import { openStore, type Store } from "../../src/runtime/storage/client.ts";
import { systemClock, systemTimers } from "../../src/runtime/system_clock.ts";
import { startFiles } from "../../src/runtime/workspace/start_files.ts";
import { crash, type Side } from "../support/crash.ts";
import { TestFolder } from "../support/repository.ts";

/** Operations of the script in `crash_script.ts`: 1 edits a.txt, 3 appends to ran.txt. */
const EDIT = 1;
const COMMAND = 3;

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
  boundary: readonly [Side, DomainEvent["type"]],
  state: OperationState | null,
  effect: boolean,
])[] = [
  [["before", "operation_intended"], null, false],
  [["after", "operation_intended"], "unknown", false],
  [["after", "operation_dispatched"], "unknown", false],
  [["before", "operation_finished"], "unknown", true],
  [["after", "operation_finished"], "known_result", true],
];

for (const [name, operation] of [["an edit", EDIT], ["a command", COMMAND]] as const) {
  for (const [[side, type], state, effect] of EXPECTED) {
    Deno.test(`SIGKILL ${side} ${type} of ${name} leaves the truth in the journal`, async () => {
      using folder = new TestFolder();
      const acknowledged = await crash(folder, { at: "event", type, index: operation, side });
      const lastSequence = acknowledged.at(-1)?.lastSequence ?? 0;
      assert.ok(lastSequence > 0);
      const happened = operation === EDIT
        ? folder.read("a.txt") === "two\n"
        : folder.exists("ran.txt");
      assert.equal(happened, effect, "effect");

      // A reader derives what became of it and writes nothing.
      const reader = await open(folder, "read");
      const derived = await look(reader);
      await reader.close();
      assert.ok(derived.lastSequence >= lastSequence, "an acknowledged event is missing");
      assert.equal(derived.task.derived, "interrupted");
      const found = derived.operations[operation];
      assert.equal(found === undefined ? null : found.derived ?? found.state, state);

      // The next owner writes it down; a second one finds nothing left to write.
      const owner = await open(folder, "write");
      const files = startFiles(folder.path, { protectedPaths: [] });
      const services = {
        clock: systemClock,
        ids: randomIds(systemClock),
        files,
        timers: systemTimers,
      };
      await recordInterrupted(owner, services);
      const recorded = await look(owner);
      await recordInterrupted(owner, services);
      const again = await look(owner);
      await owner.close();
      files.close();
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
