import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openReader, openWriter } from "../../../src/runtime/storage/database.ts";
import { backupPath, type MigrationPoint } from "../../../src/runtime/storage/migrations.ts";
import { SCHEMA_VERSION } from "../../../src/runtime/storage/schema.ts";
import { Statements } from "../../../src/runtime/storage/statements.ts";
import { toStorageError } from "../../../src/runtime/storage/storage_failure.ts";
import { checkJournal } from "../../../src/runtime/storage/check_journal.ts";
import { opened, temporaryStore, value } from "./_fixture.ts";
import { makeOldJournal, OLD_ARTIFACT_BYTES } from "./_old_journal.ts";

const CHILD = new URL("_migrating.ts", import.meta.url).pathname;

function namesIn(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

/** Opens a file as it is; nothing is checked, nothing migrated. */
function plainly<T>(path: string, read: (statements: Statements) => T): T {
  const statements = new Statements(new DatabaseSync(path), path);
  try {
    return read(statements);
  } finally {
    statements.close();
  }
}

const versionOf = (path: string) => plainly(path, (file) => file.first("PRAGMA user_version"));
const eventsIn = (path: string) =>
  plainly(path, (file) => file.first("SELECT count(*) FROM events"));

Deno.test("openWriter() brings an older journal to this version and keeps a backup of it", async () => {
  using place = temporaryStore();
  const { path, last } = makeOldJournal(place.directory);
  const writer = await openWriter(path, { availableBytes: null });
  assert.equal(writer.first("PRAGMA user_version"), SCHEMA_VERSION);
  assert.equal(writer.first("SELECT count(*) FROM events"), last);
  assert.equal(writer.first("SELECT artifact_bytes FROM journal_head"), OLD_ARTIFACT_BYTES);
  assert.equal(writer.first("PRAGMA integrity_check"), "ok");
  writer.close();
  const backup = backupPath(path, 1);
  assert.equal((Deno.statSync(backup).mode ?? 0) & 0o777, 0o600);
  assert.deepEqual([versionOf(backup), eventsIn(backup)], [1, last]);
  assert.deepEqual(namesIn(place.directory), [
    "artifacts",
    "state.sqlite3",
    "state.sqlite3.v1.backup",
    "telemetry",
  ]);
});

Deno.test("openWriter() makes no backup of a journal of this version", async () => {
  using place = temporaryStore();
  const { path } = makeOldJournal(place.directory);
  (await openWriter(path, { availableBytes: null })).close();
  Deno.removeSync(backupPath(path, 1));
  (await openWriter(path, { availableBytes: null })).close();
  assert.ok(!namesIn(place.directory).includes("state.sqlite3.v1.backup"));
});

Deno.test("openWriter() migrates nothing where a backup would not fit", async () => {
  using place = temporaryStore();
  const { path } = makeOldJournal(place.directory);
  const before = Deno.readFileSync(path);
  try {
    await openWriter(path, { availableBytes: 1024 });
    assert.fail("it must be refused");
  } catch (thrown) {
    const error = toStorageError(thrown, path);
    assert.equal(error.reason, "low_space");
    assert.match(error.detail, /that needs \d+ bytes for a backup, and 1024 are free/);
  }
  assert.deepEqual(Deno.readFileSync(path), before);
  assert.deepEqual(namesIn(place.directory), ["artifacts", "state.sqlite3", "telemetry"]);
});

Deno.test("openWriter() migrates nothing when the backup cannot be made", async () => {
  using place = temporaryStore();
  const { path, last } = makeOldJournal(place.directory);
  // A folder in its place: neither removed nor written over.
  Deno.mkdirSync(`${backupPath(path, 1)}.part/kept`, { recursive: true });
  await assert.rejects(() => openWriter(path, { availableBytes: null }));
  assert.deepEqual([versionOf(path), eventsIn(path)], [1, last]);
});

Deno.test("inspection reads an older journal from a copy and changes nothing", async () => {
  using place = temporaryStore();
  const { path } = makeOldJournal(place.directory);
  const before = Deno.readFileSync(path);
  assert.throws(() => openReader(path));
  await using store = await opened(place.directory, { mode: "read" });
  assert.equal(store.copied, true);
  assert.equal(value(await store.tasks(null, 10)).items.length, 1);
  assert.deepEqual(Deno.readFileSync(path), before);
  assert.equal(await checkJournal(path), null);
});

const POINTS = {
  backup_begun: { versions: [1], backup: false },
  backup_made: { versions: [1], backup: true },
  step_applied: { versions: [1], backup: true },
  committed: { versions: [SCHEMA_VERSION], backup: true },
} as const satisfies Record<MigrationPoint, { versions: readonly number[]; backup: boolean }>;

for (const [point, expected] of Object.entries(POINTS)) {
  Deno.test(`a process killed at ${point} of a migration leaves a whole journal`, async () => {
    using place = temporaryStore();
    const { path, last } = makeOldJournal(place.directory);
    const { signal } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", CHILD, path, point],
      stdin: "null",
    }).output();
    assert.equal(signal, "SIGKILL");
    assert.ok(expected.versions.some((version) => version === versionOf(path)));
    const backup = backupPath(path, 1);
    assert.equal(namesIn(place.directory).includes("state.sqlite3.v1.backup"), expected.backup);
    if (expected.backup) assert.deepEqual([versionOf(backup), eventsIn(backup)], [1, last]);

    const writer = await openWriter(path, { availableBytes: null });
    assert.equal(writer.first("PRAGMA user_version"), SCHEMA_VERSION);
    assert.equal(writer.first("SELECT count(*) FROM events"), last);
    assert.equal(writer.first("PRAGMA integrity_check"), "ok");
    writer.close();
    assert.ok(!namesIn(place.directory).some((name) => name.includes(".part")));
    assert.deepEqual([versionOf(backup), eventsIn(backup)], [1, last]);
  });
}
