import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { FluzoFailure } from "../../../src/core/errors.ts";
import {
  BUSY_TIMEOUT_MS,
  openReader,
  openWriter as openWithRoom,
  readModes,
  weakness,
} from "../../../src/runtime/storage/database.ts";
import { prepareDataDirectory } from "../../../src/runtime/storage/data_directory.ts";
import { toStorageError } from "../../../src/runtime/storage/storage_failure.ts";
import { temporaryStore, value } from "./_fixture.ts";

const STRONG = {
  journalMode: "wal",
  synchronous: 2,
  foreignKeys: 1,
  busyTimeoutMs: BUSY_TIMEOUT_MS,
};

function database(directory: string): string {
  return value(prepareDataDirectory(directory)).databasePath ?? assert.fail("no database");
}

const openWriter = (path: string) => openWithRoom(path, { availableBytes: null });

/** The reason and text of the storage error that `work` throws. */
async function refusal(
  path: string,
  work: () => unknown,
): Promise<{ reason: string; detail: string }> {
  try {
    await work();
  } catch (thrown) {
    return toStorageError(thrown, path);
  }
  return assert.fail("expected a refusal");
}

Deno.test("openWriter() has the durable modes in force at the first and at a later opening", async () => {
  using place = temporaryStore();
  const path = database(place.directory);
  for (const round of ["first", "second"]) {
    const writer = await openWriter(path);
    assert.deepEqual(readModes(writer), STRONG, round);
    writer.close();
  }
});

Deno.test("openWriter() leaves files that only their user can reach", async () => {
  using place = temporaryStore();
  const before = Deno.umask(0);
  try {
    const writer = await openWriter(database(place.directory));
    const names = [...Deno.readDirSync(place.directory)].filter((entry) => entry.isFile);
    assert.deepEqual(
      names.map((entry) => [
        entry.name,
        ((Deno.statSync(`${place.directory}/${entry.name}`).mode ?? 0) & 0o777).toString(8),
      ]).sort(),
      [["state.sqlite3", "600"], ["state.sqlite3-shm", "600"], ["state.sqlite3-wal", "600"]],
    );
    writer.close();
  } finally {
    Deno.umask(before);
  }
});

for (
  const [name, change] of [
    ["journal_mode", { journalMode: "delete" }],
    ["synchronous", { synchronous: 1 }],
    ["foreign_keys", { foreignKeys: 0 }],
    ["busy_timeout", { busyTimeoutMs: 0 }],
  ] as const
) {
  Deno.test(`weakness() names a weaker ${name}`, () => {
    assert.equal(weakness(STRONG), null);
    assert.match(weakness({ ...STRONG, ...change }) ?? "", new RegExp(`^${name} is`));
  });
}

Deno.test("openWriter() refuses to work without WAL", async () => {
  // An in-memory database has no WAL: SQLite answers "memory" instead of failing.
  const error = await refusal(":memory:", () => openWriter(":memory:"));
  assert.equal(error.reason, "weaker_mode");
  assert.match(error.detail, /journal_mode is "memory", not "wal"/);
});

Deno.test("openWriter() refuses a newer schema and leaves the file as it is", async () => {
  using place = temporaryStore();
  const path = database(place.directory);
  (await openWriter(path)).close();
  const other = new DatabaseSync(path);
  other.exec("PRAGMA user_version = 3");
  other.close();
  const before = Deno.readFileSync(path);
  for (const open of [openWriter, openReader]) {
    const error = await refusal(path, () => open(path));
    assert.equal(error.reason, "newer_schema");
    assert.match(error.detail, /version 3, this Fluzo knows 2: update Fluzo/);
  }
  assert.deepEqual(Deno.readFileSync(path), before);
});

Deno.test("openWriter() refuses another program's database", async () => {
  using place = temporaryStore();
  const path = database(place.directory);
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE theirs (a); PRAGMA user_version = 1");
  other.close();
  for (const open of [openWriter, openReader]) {
    assert.equal((await refusal(path, () => open(path))).reason, "corrupt");
  }
});

Deno.test("openWriter() refuses what is no database and never recreates it", async () => {
  using place = temporaryStore();
  const path = database(place.directory);
  const noise = new Uint8Array(8192).fill(0x5a);
  Deno.writeFileSync(path, noise);
  for (const open of [openWriter, openReader]) {
    const error = await refusal(path, () => open(path));
    assert.equal(error.reason, "corrupt");
    assert.match(error.detail, /not a database/);
  }
  assert.deepEqual(Deno.readFileSync(path), noise);
});

Deno.test("openReader() cannot write", async () => {
  using place = temporaryStore();
  const path = database(place.directory);
  (await openWriter(path)).close();
  const reader = openReader(path);
  assert.throws(() => reader.run("DELETE FROM journal_head"), /readonly database/);
  reader.close();
});

Deno.test("openReader() reads a file that is still empty as an empty journal", () => {
  using place = temporaryStore();
  const path = database(place.directory);
  const reader = openReader(path);
  assert.equal(reader.get("SELECT count(*) AS n FROM events")?.integer("n"), 0);
  reader.close();
  assert.equal(Deno.statSync(path).size, 0);
});

Deno.test("SCHEMA keeps the journal gapless and its events unchanged", async () => {
  using place = temporaryStore();
  const writer = await openWriter(database(place.directory));
  const insert = (sequence: number) =>
    writer.run(
      `INSERT INTO events (sequence, id, schema_version, type, wall_ms, payload)
       VALUES (?, ?, 1, 't', 0, '{}')`,
      sequence,
      `ev${sequence}`,
    );
  insert(1);
  assert.throws(() => insert(3), /no gap/);
  assert.throws(() => insert(1), /no gap/);
  assert.throws(() => writer.run("UPDATE events SET type = 'u'"), /never changes/);
  insert(2);
  writer.close();
});

const WORDS = [
  ["database disk image is malformed", "corrupt"],
  ["file is not a database", "corrupt"],
  ["database or disk is full", "disk_full"],
  ["No space left on device (os error 28)", "disk_full"],
  ["locking protocol", "weaker_mode"],
  ["database is locked", "busy"],
  ["database table is locked", "busy"],
  ["UNIQUE constraint failed: events.id", "invalid_transition"],
  ["cannot store REAL value in INTEGER column events.wall_ms", "invalid_transition"],
  ["unable to open database file", "io"],
  ["disk I/O error", "io"],
  ["Read-only file system (os error 30)", "io"],
  ["Permission denied (os error 13)", "io"],
] as const;
for (const [words, reason] of WORDS) {
  Deno.test(`toStorageError() takes "${words}" for ${reason}`, () => {
    const error = toStorageError(new Error(words), "/p");
    assert.deepEqual([error.reason, error.path], [reason, "/p"]);
    assert.ok(error.detail.startsWith(words));
  });
}

Deno.test("toStorageError() passes a typed error on", () => {
  const error = toStorageError(new Error("database is locked"), "/p");
  assert.equal(toStorageError(new FluzoFailure(error), "/q"), error);
});
