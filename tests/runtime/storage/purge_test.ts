import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import type { ArtifactId, SessionId, TaskId } from "../../../src/core/ids.ts";
import { NONE_LEFT } from "../../../src/core/left_processes.ts";
import type { Store } from "../../../src/runtime/storage/client.ts";
import { newId } from "../../support/ids.ts";
import {
  authorizedOperation,
  draft,
  drafts,
  failure,
  intended,
  opened,
  startedTask,
  temporaryStore,
  value,
} from "./_fixture.ts";
import { makeOldJournal } from "./_old_journal.ts";
import { oneOfEach } from "./_story.ts";

const CHILD = new URL("_purging.ts", import.meta.url).pathname;

/** A text that must be nowhere once its session is deleted. */
const SECRET_WORDS = "the quick brown sentinel of this session";

const ALIVE = {
  processes: [{ pid: 7, startTicks: "1", bootId: "b", command: "sleep 9" }],
  more: 0,
};

interface Kept {
  readonly sessionId: SessionId;
  readonly taskId: TaskId;
  readonly artifacts: readonly ArtifactId[];
}

/** A session with a task that has ended, a message and as many artifacts. */
async function ended(
  store: Store,
  { artifacts: count = 2, alsoRefersTo = [], leaves = "completed" }: {
    readonly artifacts?: number;
    /** Artifacts of other sessions. */
    readonly alsoRefersTo?: readonly ArtifactId[];
    readonly leaves?: "completed" | "at_work" | "processes";
  } = {},
): Promise<Kept> {
  const { sessionId, taskId, attemptId, events } = startedTask();
  value(await store.append(drafts(...events)));
  const artifacts: ArtifactId[] = [];
  for (let i = 0; i < count; i++) {
    const described = { id: newId("artifact"), kind: "process_output", droppedBytes: 0 } as const;
    const artifact = value(await store.putArtifact(described, new Uint8Array(100 + i)));
    value(await store.append([draft({ type: "artifact_recorded", artifact }, { taskId })]));
    artifacts.push(artifact.id);
  }
  const operation = authorizedOperation(attemptId);
  const { operationId } = operation;
  value(
    await store.append(drafts(
      {
        type: "message_recorded",
        messageId: newId("message"),
        sessionId,
        taskId,
        message: { role: "user", text: SECRET_WORDS },
      },
      ...operation.events,
      intended(operationId),
      { type: "operation_dispatched", operationId },
      {
        type: "operation_finished",
        operationId,
        outcome: "ok",
        summary: SECRET_WORDS,
        artifacts: [...artifacts, ...alsoRefersTo],
        exitCode: 0,
      },
      ...(leaves === "processes"
        ? [{ type: "processes_left", operationId, left: ALIVE } as const]
        : []),
      ...(leaves === "at_work" ? [] : [
        { type: "task_moved", taskId, from: "running", to: "completed", reason: null },
        { type: "attempt_ended", attemptId, outcome: "completed", error: null },
      ] as const),
    )),
  );
  return { sessionId, taskId, artifacts };
}

async function purgeEvent(store: Store, sessionId: SessionId): Promise<DomainEvent> {
  const preview = value(await store.purgePreview(sessionId)) ?? assert.fail("no such session");
  return { type: "history_purged", sessionId, contents: preview.contents };
}

/** Everything a reader can see of a session and its task. */
async function allOf(store: Store, { sessionId, taskId }: Kept) {
  return {
    task: value(await store.task(taskId)),
    operations: value(await store.operations(taskId, { after: null, limit: 100 })),
    messages: value(await store.messages(sessionId, 1e6)),
    events: value(await store.events(taskId, { afterSequence: 0, limit: 500 })),
    preview: value(await store.purgePreview(sessionId)),
  };
}

const filesIn = (directory: string) =>
  [...Deno.readDirSync(`${directory}/artifacts`)].map(({ name }) => name).sort();

function inFile<T>(directory: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(`${directory}/state.sqlite3`);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

Deno.test("a purge deletes every record of a session and none of another", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const gone = await ended(store);
  const stays = await ended(store);
  const before = await allOf(store, stays);
  value(await store.append(drafts(await purgeEvent(store, gone.sessionId))));
  assert.deepEqual(value(await store.removePurged()), { removed: 2, left: 0, problem: null });
  assert.deepEqual(await allOf(store, stays), before);
  assert.equal(value(await store.purgePreview(gone.sessionId)), null);
  assert.deepEqual(filesIn(place.directory), [...stays.artifacts].sort());
  await store.close();
  inFile(place.directory, (database) => {
    assert.deepEqual(database.prepare("PRAGMA foreign_key_check").all(), []);
    const tables = database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    ).all();
    const ids = [gone.sessionId, gone.taskId, ...gone.artifacts];
    for (const { name } of tables) {
      const text = JSON.stringify(database.prepare(`SELECT * FROM ${name}`).all());
      const found = ids.filter((id) => text.includes(id));
      // The event that tells of the deletion is the one place where the session is still named.
      assert.deepEqual(found, name === "events" ? [gone.sessionId] : [], String(name));
    }
  });
});

Deno.test("a purge deletes the whole story of a session with one of each event", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const { order, taskId, sessionId, cases } = oneOfEach();
  const head = order.findIndex((event) => event.type === "task_created");
  value(
    await store.append(order.map((event, index) => draft(event, index > head ? { taskId } : {}))),
  );
  const { operationId } = cases.processes_left;
  const kept = value(await store.purgePreview(sessionId))?.kept;
  assert.deepEqual(kept, { taskId, because: "processes" });
  value(await store.append(drafts({ type: "processes_left", operationId, left: NONE_LEFT })));
  value(await store.append(drafts(await purgeEvent(store, sessionId))));
  assert.deepEqual(value(await store.sessions(null, 5)).items, []);
  assert.equal(value(await store.use()).artifactBytes, 0);
});

Deno.test("a purge leaves no word of a session in the database file", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const { sessionId } = await ended(store);
  for (let i = 0; i < 200; i++) {
    value(
      await store.append(
        drafts({ type: "session_created", sessionId: newId("session"), title: "x".repeat(500) }),
      ),
    );
  }
  value(await store.append(drafts(await purgeEvent(store, sessionId))));
  value(await store.compact());
  const words = new TextEncoder().encode(SECRET_WORDS);
  for (const name of ["state.sqlite3", "state.sqlite3-wal"]) {
    const bytes = Deno.readFileSync(`${place.directory}/${name}`);
    assert.equal(indexOf(bytes, words), -1, name);
  }
});

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  return new TextDecoder("latin1").decode(bytes).indexOf(new TextDecoder("latin1").decode(wanted));
}

Deno.test("an artifact that another session refers to stays until that one goes too", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const first = await ended(store, { artifacts: 2 });
  const [shared] = first.artifacts;
  assert.ok(shared !== undefined);
  const second = await ended(store, { artifacts: 1, alsoRefersTo: [shared] });
  const contents = value(await store.purgePreview(first.sessionId))?.contents;
  assert.deepEqual([contents?.artifacts, contents?.artifactBytes], [1, 101]);
  value(await store.append(drafts(await purgeEvent(store, first.sessionId))));
  value(await store.removePurged());
  assert.deepEqual(filesIn(place.directory), [shared, ...second.artifacts].sort());
  assert.equal(value(await store.artifact(shared))?.length, 100);
  value(await store.append(drafts(await purgeEvent(store, second.sessionId))));
  assert.deepEqual(value(await store.removePurged()).removed, 2);
  assert.deepEqual(filesIn(place.directory), []);
});

for (const leaves of ["at_work", "processes"] as const) {
  Deno.test(`a purge is refused while a task of the session is ${leaves}`, async () => {
    using place = temporaryStore();
    await using store = await opened(place.directory);
    const kept = await ended(store, { leaves });
    assert.deepEqual(value(await store.purgePreview(kept.sessionId))?.kept, {
      taskId: kept.taskId,
      because: leaves,
    });
    const before = await allOf(store, kept);
    const event = await purgeEvent(store, kept.sessionId);
    assert.equal(failure(await store.append(drafts(event))).reason, "invalid_transition");
    assert.deepEqual(await allOf(store, kept), before);
  });
}

Deno.test("a purge is refused when the session holds something else than was shown", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const kept = await ended(store);
  const shown = await purgeEvent(store, kept.sessionId);
  const { taskId, sessionId } = kept;
  const more = { type: "cancel_requested", taskId, by: "user" } as const;
  value(await store.append([draft(more, { sessionId })]));
  const before = await allOf(store, kept);
  assert.match(failure(await store.append(drafts(shown))).detail, /not hold what was shown/);
  assert.deepEqual(await allOf(store, kept), before);
});

Deno.test("a file that cannot be removed keeps no other, and is tried again", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const { sessionId, artifacts } = await ended(store, { artifacts: 3 });
  const stuck = `${place.directory}/artifacts/${artifacts[1]}`;
  Deno.removeSync(stuck);
  Deno.mkdirSync(`${stuck}/not empty`, { recursive: true });
  value(await store.append(drafts(await purgeEvent(store, sessionId))));
  const removed = value(await store.removePurged());
  assert.deepEqual([removed.removed, removed.left], [2, 1]);
  assert.match(removed.problem ?? "", /not empty/i);
  assert.deepEqual(value(await store.use()).waiting, { files: 1, bytes: 101 });
  assert.equal(value(await store.unfinished()).purged, true);
  Deno.removeSync(`${stuck}/not empty`);
  assert.deepEqual(value(await store.removePurged()), { removed: 1, left: 0, problem: null });
  assert.equal(value(await store.unfinished()).purged, false);
});

/** More than one batch of removals would need thousands of files; three show the boundaries. */
for (const files of [0, 1, 2, 3]) {
  Deno.test(`a process killed after ${files} of 3 files leaves the rest to the next owner`, async () => {
    using place = temporaryStore();
    const before = await opened(place.directory);
    const { sessionId } = await ended(before, { artifacts: 3 });
    const stays = await ended(before, { artifacts: 1 });
    const event = await purgeEvent(before, sessionId);
    await before.close();
    const { signal, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "-A",
        CHILD,
        `${place.directory}/state.sqlite3`,
        `${place.directory}/artifacts`,
        JSON.stringify(event),
        String(files),
      ],
      stdin: "null",
    }).output();
    assert.equal(signal, "SIGKILL", new TextDecoder().decode(stderr));
    assert.equal(filesIn(place.directory).length, 4 - files);
    await using store = await opened(place.directory);
    assert.equal(value(await store.unfinished()).purged, true);
    assert.equal(value(await store.purgePreview(sessionId)), null);
    assert.deepEqual(value(await store.removePurged()), { removed: 3, left: 0, problem: null });
    assert.deepEqual(filesIn(place.directory), [...stays.artifacts]);
  });
}

Deno.test("leftovers are what no record refers to, and nothing else", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const { artifacts } = await ended(store);
  const orphan = newId("artifact");
  const unfinished = `${newId("artifact")}.part`;
  const directory = `${place.directory}/artifacts`;
  Deno.writeFileSync(`${directory}/${orphan}`, new Uint8Array(10));
  Deno.writeFileSync(`${directory}/${unfinished}`, new Uint8Array(5));
  Deno.writeTextFileSync(`${directory}/notes.txt`, "somebody else's");
  const expected = { unrecorded: { files: 2, bytes: 15 }, backups: { files: 0, bytes: 0 } };
  assert.deepEqual(value(await store.leftovers()), expected);
  assert.ok(filesIn(place.directory).includes(orphan), "looking removed it");
  assert.deepEqual(value(await store.removeLeftovers()), expected);
  assert.deepEqual(filesIn(place.directory), [...artifacts, "notes.txt"].sort());
});

Deno.test("leftovers are not looked for while a task may be writing one", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  await ended(store, { leaves: "at_work" });
  assert.equal(failure(await store.leftovers()).reason, "busy");
  assert.equal(failure(await store.removeLeftovers()).reason, "busy");
});

Deno.test("a journal from before a migration is a leftover", async () => {
  using place = temporaryStore();
  makeOldJournal(place.directory);
  await using store = await opened(place.directory);
  const backup = `${place.directory}/state.sqlite3.v1.backup`;
  const bytes = Deno.statSync(backup).size;
  const { attempts } = value(await store.unfinished());
  for (const { id: attemptId } of attempts) {
    value(
      await store.append(
        drafts({ type: "attempt_ended", attemptId, outcome: "interrupted", error: null }),
      ),
    );
  }
  assert.deepEqual(value(await store.leftovers()).backups, { files: 1, bytes });
  value(await store.removeLeftovers());
  assert.throws(() => Deno.statSync(backup), Deno.errors.NotFound);
});

Deno.test("compact() gives the pages of deleted records back to the file system", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const { sessionId, taskId } = await ended(store);
  for (let i = 0; i < 40; i++) {
    value(
      await store.append(drafts({
        type: "message_recorded",
        messageId: newId("message"),
        sessionId,
        taskId,
        message: { role: "user", text: "x".repeat(100_000) },
      })),
    );
  }
  const full = value(await store.use()).journalBytes;
  value(await store.append(drafts(await purgeEvent(store, sessionId))));
  value(await store.compact());
  const after = value(await store.use()).journalBytes;
  assert.ok(full > 4_000_000 && after < 500_000, `${full} bytes, then ${after}`);
});
