import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { BATCH } from "./_appender.ts";
import { newId } from "../../support/ids.ts";
import { drafts, opened, temporaryStore, value } from "./_fixture.ts";

const KILLS = 20;

/** Most acknowledgements before the kill. */
const MAX_ACKNOWLEDGED = 60;

function appender(directory: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-lock",
      "-A",
      new URL("./_appender.ts", import.meta.url).pathname,
      directory,
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

/** Lets a process append until it has acknowledged `count` batches, then kills it. */
async function killAfter(directory: string, count: number): Promise<Map<string, number>> {
  const child = appender(directory);
  const acknowledged = new Map<string, number>();
  let rest = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [title = "", sequence] = line.split(" ");
      acknowledged.set(title, Number(sequence));
    }
    // What is still in the pipe after the kill was acknowledged too, so reading goes on.
    if (acknowledged.size >= count) kill(child);
  }
  await child.status;
  return acknowledged;
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (thrown) {
    // It is already dead: this is a later line of the same pipe.
    if (!(thrown instanceof TypeError) && !(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

Deno.test(`append() keeps every acknowledged batch whole over ${KILLS} kills`, async () => {
  using place = temporaryStore();
  const all = new Map<string, number>();
  const counts: number[] = [];
  for (let round = 0; round < KILLS; round++) {
    const count = 1 + Math.floor(Math.random() * MAX_ACKNOWLEDGED);
    counts.push(count);
    const told = `kills after ${counts.join(", ")} acknowledgements`;
    for (const [title, sequence] of await killAfter(place.directory, count)) {
      all.set(title, sequence);
    }
    // Opening recovers; a batch of the new owner follows without a gap.
    await using store = await opened(place.directory);
    const session = { type: "session_created", sessionId: newId("session") } as const;
    value(await store.append(drafts({ ...session, title: "owner" })));
    const database = new DatabaseSync(`${place.directory}/state.sqlite3`, { readOnly: true });
    const titles = new Map(
      database.prepare(
        "SELECT title, count(*) AS n, max(created_sequence) AS last FROM sessions GROUP BY title",
      ).all().map((row) => [String(row.title), row] as const),
    );
    for (const [title, sequence] of all) {
      assert.equal(titles.get(title)?.last, sequence, `${title} is lost: ${told}`);
    }
    for (const [title, row] of titles) {
      if (title !== "owner") assert.equal(row.n, BATCH, `${title} is half there: ${told}`);
    }
    const events = database.prepare(
      "SELECT count(*) AS n, min(sequence) AS first, max(sequence) AS last FROM events",
    ).get();
    assert.equal(events?.first, 1);
    assert.equal(events?.last, events?.n, `the sequence has a gap: ${told}`);
    const sessions = database.prepare("SELECT count(*) AS n FROM sessions").get();
    assert.equal(sessions?.n, events?.n, `state and journal disagree: ${told}`);
    database.close();
  }
});

Deno.test("readers never see a lock while another process writes and is killed", async () => {
  using place = temporaryStore();
  await (await opened(place.directory)).close();
  const child = appender(place.directory);
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(!(await lines.read()).done, "the other process does not write");
  const drained = (async () => {
    while (!(await lines.read()).done);
  })();
  for (let round = 0; round < 10; round++) {
    // Opening and closing is where a reader may meet recovery and checkpoints.
    await using store = await opened(place.directory, { mode: "read" });
    for (let i = 0; i < 20; i++) {
      assert.equal(value(await store.sessions(null, 1)).items.length, 1);
    }
    if (round === 7) kill(child);
  }
  await drained;
  await child.status;
});
