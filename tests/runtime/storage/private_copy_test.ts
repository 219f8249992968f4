import assert from "node:assert/strict";
import { copyDatabase } from "../../../src/runtime/storage/private_copy.ts";
import { newId } from "../../support/ids.ts";
import { drafts, failure, opened, temporaryStore, value } from "./_fixture.ts";

/** Runs the inspector so that permission bits bind it: a superuser gives up its exception. */
async function inspect(directory: string, temporary: string): Promise<unknown> {
  const script = new URL("./_inspector.ts", import.meta.url).pathname;
  const deno = [Deno.execPath(), "run", "--no-lock", "-A", script, directory];
  const drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
  const [program = "", ...args] = Deno.uid() === 0 ? [...drop, ...deno] : deno;
  const { stdout } = await new Deno.Command(program, {
    args,
    env: { TMPDIR: temporary },
    stdout: "piped",
    stderr: "inherit",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("openStore() in mode read inspects a folder that cannot be written, through a copy", async () => {
  using place = temporaryStore();
  {
    await using store = await opened(place.directory);
    const sessionId = newId("session");
    value(await store.append(drafts({ type: "session_created", sessionId, title: "kept" })));
  }
  const names = () => [...Deno.readDirSync(place.directory)].map((entry) => entry.name).sort();
  const before = names();
  const temporary = `${place.root}/tmp`;
  Deno.mkdirSync(temporary);
  Deno.chmodSync(place.directory, 0o500);
  try {
    assert.deepEqual(await inspect(place.directory, temporary), {
      titles: ["kept"],
      copied: true,
      left: 0,
    });
    assert.deepEqual(names(), before);
  } finally {
    Deno.chmodSync(place.directory, 0o700);
  }
});

Deno.test("copyDatabase() takes the write-ahead log along and is private", async () => {
  using place = temporaryStore();
  const path = `${place.root}/state.sqlite3`;
  Deno.writeTextFileSync(path, "main", { mode: 0o600 });
  Deno.writeTextFileSync(`${path}-wal`, "log", { mode: 0o600 });
  const copy = value(await copyDatabase(path));
  assert.equal(((Deno.statSync(copy.directory).mode ?? 0) & 0o777).toString(8), "700");
  assert.equal(Deno.readTextFileSync(copy.databasePath), "main");
  assert.equal(Deno.readTextFileSync(`${copy.databasePath}-wal`), "log");
  await copy.remove();
  assert.throws(() => Deno.statSync(copy.directory), Deno.errors.NotFound);
});

Deno.test("copyDatabase() tells that there is nothing to copy", async () => {
  using place = temporaryStore();
  assert.equal(failure(await copyDatabase(`${place.root}/none`)).reason, "io");
});
