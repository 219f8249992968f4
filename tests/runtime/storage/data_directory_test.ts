import assert from "node:assert/strict";
import {
  type DataDirectoryFacts,
  inspectDataDirectory,
  judgeDataDirectory,
  prepareDataDirectory,
} from "../../../src/runtime/storage/data_directory.ts";
import { failure, temporaryStore, value } from "./_fixture.ts";

function modeOf(path: string): string {
  return ((Deno.lstatSync(path).mode ?? 0) & 0o777).toString(8);
}

const PRIVATE = ["artifacts", "telemetry"] as const;

for (const umask of [0o000, 0o077]) {
  const name = `umask ${umask.toString(8).padStart(3, "0")}`;
  Deno.test(`prepareDataDirectory() makes everything private under ${name}`, () => {
    using place = temporaryStore();
    const before = Deno.umask(umask);
    try {
      const found = value(prepareDataDirectory(place.directory));
      assert.equal(found.databasePath, `${place.directory}/state.sqlite3`);
    } finally {
      Deno.umask(before);
    }
    assert.equal(modeOf(place.directory), "700");
    for (const entry of PRIVATE) assert.equal(modeOf(`${place.directory}/${entry}`), "700");
    assert.equal(modeOf(`${place.directory}/state.sqlite3`), "600");
    // A second time nothing changes and nothing is refused.
    value(prepareDataDirectory(place.directory));
  });
}

Deno.test("prepareDataDirectory() refuses a link and makes nothing behind it", () => {
  using place = temporaryStore();
  const elsewhere = `${place.root}/elsewhere`;
  Deno.mkdirSync(elsewhere, { mode: 0o700 });
  Deno.symlinkSync(elsewhere, place.directory);
  const error = failure(prepareDataDirectory(place.directory));
  assert.deepEqual([error.reason, error.path], ["is_link", place.directory]);
  assert.deepEqual([...Deno.readDirSync(elsewhere)], []);
  assert.equal(failure(inspectDataDirectory(place.directory)).reason, "is_link");
});

Deno.test("prepareDataDirectory() refuses links inside", () => {
  for (const name of ["state.sqlite3", "state.sqlite3-wal", "artifacts"]) {
    using place = temporaryStore();
    Deno.mkdirSync(place.directory, { mode: 0o700 });
    const target = `${place.root}/target`;
    if (name === "artifacts") Deno.mkdirSync(target, { mode: 0o700 });
    else Deno.writeTextFileSync(target, "", { mode: 0o600 });
    Deno.symlinkSync(target, `${place.directory}/${name}`);
    const error = failure(prepareDataDirectory(place.directory));
    assert.deepEqual([error.reason, error.path], ["is_link", `${place.directory}/${name}`]);
    assert.equal(failure(inspectDataDirectory(place.directory)).reason, "is_link");
  }
});

Deno.test("prepareDataDirectory() refuses wider modes with the command that repairs them", () => {
  const rows = [
    ["", 0o750, "chmod 700 "],
    ["/artifacts", 0o701, "chmod 700 "],
    ["/telemetry", 0o770, "chmod 700 "],
    ["/state.sqlite3", 0o644, "chmod 600 "],
  ] as const;
  for (const [name, mode, command] of rows) {
    using place = temporaryStore();
    value(prepareDataDirectory(place.directory));
    const path = place.directory + name;
    Deno.chmodSync(path, mode);
    for (const open of [prepareDataDirectory, inspectDataDirectory]) {
      const error = failure(open(place.directory));
      assert.deepEqual([error.reason, error.path], ["not_private", path]);
      assert.ok(error.detail.endsWith(`run ${command}${path}`), error.detail);
    }
    assert.equal(modeOf(path), mode.toString(8), "it was repaired silently");
  }
});

Deno.test("prepareDataDirectory() refuses a file in place of the directory", () => {
  using place = temporaryStore();
  Deno.writeTextFileSync(place.directory, "mine", { mode: 0o600 });
  assert.equal(failure(prepareDataDirectory(place.directory)).reason, "not_private");
  assert.equal(Deno.readTextFileSync(place.directory), "mine");
});

Deno.test("prepareDataDirectory() does not start anew over records that lost their database", () => {
  using place = temporaryStore();
  value(prepareDataDirectory(place.directory));
  Deno.writeTextFileSync(`${place.directory}/artifacts/left`, "x", { mode: 0o600 });
  Deno.removeSync(`${place.directory}/state.sqlite3`);
  const error = failure(prepareDataDirectory(place.directory));
  assert.equal(error.reason, "corrupt");
  assert.match(error.detail, /The database is missing/);
  assert.throws(() => Deno.lstatSync(`${place.directory}/state.sqlite3`), Deno.errors.NotFound);
});

Deno.test("prepareDataDirectory() refuses a relative path", () => {
  assert.equal(failure(prepareDataDirectory(".fluzodrive")).reason, "io");
});

Deno.test("inspectDataDirectory() makes nothing", () => {
  using place = temporaryStore();
  assert.equal(value(inspectDataDirectory(place.directory)).databasePath, null);
  assert.deepEqual([...Deno.readDirSync(place.root)], []);
});

const ENTRY = {
  path: "/w/.fluzodrive",
  expected: "directory",
  kind: "directory",
  ownerId: 7,
  mode: 0o700,
} as const;
const FACTS: DataDirectoryFacts = {
  directory: "/w/.fluzodrive",
  userId: 7,
  entries: [ENTRY],
  git: { tracked: false, ignored: true },
};
const JUDGED: readonly {
  readonly name: string;
  readonly facts: Partial<DataDirectoryFacts>;
  readonly reason: string | null;
  readonly detail?: string;
}[] = [
  { name: "allows a private, ignored directory", facts: {}, reason: null },
  { name: "allows one outside a repository", facts: { git: null }, reason: null },
  {
    name: "refuses another user's",
    facts: { entries: [{ ...ENTRY, ownerId: 8 }] },
    reason: "not_private",
    detail: "It belongs to another user (8)",
  },
  {
    name: "refuses an owner it cannot know",
    facts: { userId: null, entries: [{ ...ENTRY, ownerId: null }] },
    reason: "not_private",
  },
  {
    name: "quotes an unusual path for the shell",
    facts: { entries: [{ ...ENTRY, path: "/it's here", mode: 0o755 }] },
    reason: "not_private",
    detail: "Other users may reach it (mode 755): run chmod 700 '/it'\\''s here'",
  },
  {
    name: "refuses what Git tracks",
    facts: { git: { tracked: true, ignored: true } },
    reason: "tracked_by_git",
    detail: "Git tracks private data: run git rm -r --cached /w/.fluzodrive",
  },
  {
    name: "refuses what Git does not ignore",
    facts: { git: { tracked: false, ignored: false } },
    reason: "not_ignored",
    detail: 'Git does not ignore private data: add "/.fluzodrive/" to .git/info/exclude',
  },
];
for (const { name, facts, reason, detail } of JUDGED) {
  Deno.test(`judgeDataDirectory() ${name}`, () => {
    const error = judgeDataDirectory({ ...FACTS, ...facts });
    assert.equal(error?.reason ?? null, reason);
    if (detail !== undefined) assert.equal(error?.detail, detail);
  });
}
