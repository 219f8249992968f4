import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { calls, says } from "../support/simulated.ts";
import { TestFluzo } from "../support/fluzo.ts";

/** Every file of the data directory with its content; what only says that somebody looked is left out. */
function dataOf({ repository }: TestFluzo): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (path: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(path)) {
      if (/-shm$|^owner/.test(name)) continue;
      if (isDirectory) walk(`${path}/${name}`);
      else {found[`${path}/${name}`] = new TextDecoder("latin1").decode(
          Deno.readFileSync(`${path}/${name}`),
        );}
    }
  };
  walk(`${repository.path}/.fluzodrive`);
  return found;
}

/** Two sessions of one task each; their ids, the newest first. */
async function twoSessions(fluzo: TestFluzo, baseUrl: string): Promise<readonly string[]> {
  fluzo.repository.commit({ "a.txt": "1\n" });
  await fluzo.setUp(baseUrl);
  await fluzo.must("run", "read the first", "--allow-exec", "seq 20000");
  await fluzo.must("run", "say the second");
  const listed = await fluzo.must("history", "list", "--output", "json");
  return JSON.parse(listed.stdout).sessions.map(({ id }: { id: string }) => id);
}

const TURNS = [
  calls("run", { command: ["seq", "20000"] }),
  says("The first is done."),
  says("The second is done."),
];

Deno.test("history shows what is kept and deletes a session only after a yes", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator(TURNS);
  const [second = "", first = ""] = await twoSessions(fluzo, simulator.baseUrl);
  const listed = await fluzo.must("history", "list");
  assert.match(listed.stdout, new RegExp(`${first}.*1 task, .*1 artifact .*read the first`));
  assert.match(listed.stdout, /In all: journal .*, artifacts [1-9]/);

  const before = dataOf(fluzo);
  const dry = await fluzo.must("history", "purge", "--session", first, "--dry-run");
  assert.match(dry.stdout, new RegExp(`would be deleted for good:\n {2}${first}`));
  assert.match(dry.stdout, /Not touched: .*other sessions/);
  const unconfirmed = await fluzo.run("history", "purge", "--session", first);
  assert.equal(unconfirmed.code, 31);
  assert.match(unconfirmed.stderr, /--yes/);
  assert.deepEqual(dataOf(fluzo), before, "looking changed something");

  const purged = await fluzo.must("history", "purge", "--session", first, "--yes");
  assert.match(purged.stdout, new RegExp(`Deleted ${first}: 1 task`));
  const left = JSON.parse((await fluzo.must("history", "list", "--output", "json")).stdout);
  assert.deepEqual(left.sessions.map(({ id }: { id: string }) => id), [second]);
  assert.equal(left.storage.artifactBytes, 0);
  assert.equal((await fluzo.run("session", "open", first)).code, 36);
  assert.equal((await fluzo.run("history", "purge", "--session", first, "--yes")).code, 36);
  const bytes = Object.values(dataOf(fluzo)).join("");
  assert.ok(!bytes.includes("read the first") && bytes.includes("say the second"));
  simulator.verify();
});

Deno.test("history purge --all deletes every session and what no record needs", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator(TURNS);
  const sessions = await twoSessions(fluzo, simulator.baseUrl);
  const artifacts = `${fluzo.repository.path}/.fluzodrive/artifacts`;
  Deno.writeTextFileSync(`${artifacts}/art_0000000001a4a1qz5vmb1vp8q1.part`, "left by a kill");
  assert.match((await fluzo.must("history", "list")).stdout, /1 file that no record refers to/);
  assert.equal((await fluzo.run("history", "purge")).code, 2);
  assert.equal((await fluzo.run("history", "purge", "--all", "--leftovers")).code, 2);
  const purged = await fluzo.must("history", "purge", "--all", "--yes", "--output", "json");
  const report = JSON.parse(purged.stdout);
  assert.deepEqual(report.sessions, sessions);
  assert.equal(report.leftovers.unrecorded.files, 1);
  assert.deepEqual([...Deno.readDirSync(artifacts)], []);
  assert.match((await fluzo.must("history", "list")).stdout, /no session in this workspace/);
  // The workspace goes on to work.
  const again = startSimulator([says("A third.")]);
  await using _again = again;
  fluzo.repository.write(
    ".fluzo",
    fluzo.repository.read(".fluzo").replace(simulator.baseUrl, again.baseUrl),
  );
  await fluzo.must("consent", "grant");
  await fluzo.must("run", "say a third");
  simulator.verify();
});

Deno.test("export writes a whole session as Markdown and as JSON, and nothing in it poses as structure", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "```\n# not a heading\n````\n" });
  await using simulator = startSimulator([
    calls("read", { path: "a.txt" }),
    says("It has a fence. \x1b[31mred"),
  ]);
  await fluzo.setUp(simulator.baseUrl);
  await fluzo.must("run", "what is in a.txt?");
  const list = JSON.parse((await fluzo.must("session", "list", "--output", "json")).stdout);
  const { id } = list.sessions[0];
  const { stdout: markdown } = await fluzo.must("export", id);
  assert.match(markdown, /^# what is in a\.txt\?\n/);
  assert.match(markdown, /- known_result: `read a\.txt`/);
  // The quoted file cannot end its block: the fence around it is longer.
  assert.match(markdown, /\n`````text\n[^]*# not a heading\n[^]*\n`````\n/);
  assert.ok(!markdown.includes("\x1b"));
  const document = JSON.parse((await fluzo.must("export", id, "--output", "json")).stdout);
  assert.deepEqual(Object.keys(document), [
    "type",
    "schema_version",
    "session",
    "tasks",
    "messages",
  ]);
  assert.deepEqual(
    document.messages.map(({ role }: { role: string }) => role),
    ["user", "assistant", "tool", "assistant"],
  );
  assert.equal(document.tasks[0].operations[0].tool, "read");
  assert.equal((await fluzo.run("export", "ses_nothing")).code, 36);
  simulator.verify();
});

Deno.test("export takes out a key that came into the journal as an ordinary word", async () => {
  using fluzo = new TestFluzo({ MODEL_KEY: "sentinel-key-0815" });
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([says("You said sentinel-key-0815.")]);
  await fluzo.setUp(simulator.baseUrl);
  await fluzo.must("run", "my word is sentinel-key-0815");
  const list = JSON.parse((await fluzo.must("session", "list", "--output", "json")).stdout);
  const { id } = list.sessions[0];
  assert.match((await fluzo.must("export", id)).stdout, /sentinel-key-0815/);
  fluzo.repository.write(
    ".fluzo",
    fluzo.repository.read(".fluzo").replace(
      'auth = "none"',
      'auth = "env"\napi_key_env = "MODEL_KEY"',
    ),
  );
  for (const format of ["text", "json"]) {
    const { stdout } = await fluzo.must("export", id, "--output", format);
    assert.ok(!stdout.includes("sentinel-key-0815"), format);
    assert.match(stdout, /\[redacted\]/);
  }
});

Deno.test("a damaged journal is set aside whole, only after a yes, and a new one begins", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator([says("Before."), says("After.")]);
  fluzo.repository.commit({ "a.txt": "1\n" });
  await fluzo.setUp(simulator.baseUrl);
  await fluzo.must("run", "before the damage");
  assert.equal((await fluzo.run("history", "set-aside", "--yes")).code, 2, "it is whole");
  const directory = `${fluzo.repository.path}/.fluzodrive`;
  const path = `${directory}/state.sqlite3`;
  const damaged = Deno.readFileSync(path).fill(0xa5, 4096 * 2, 4096 * 12);
  Deno.writeFileSync(path, damaged);

  const refused = await fluzo.run("run", "on the damage");
  assert.equal(refused.code, 35, refused.stdout + refused.stderr);
  assert.match(refused.stderr, /fluzo history set-aside/);
  const doctor = await fluzo.run("doctor");
  assert.match(doctor.stdout + doctor.stderr, /damaged/);
  const unconfirmed = await fluzo.run("history", "set-aside");
  assert.equal(unconfirmed.code, 31, unconfirmed.stderr);
  assert.deepEqual(Deno.readFileSync(path), damaged);

  const moved = JSON.parse(
    (await fluzo.must("history", "set-aside", "--yes", "--output", "json")).stdout,
  );
  assert.deepEqual(Deno.readFileSync(`${moved.kept_in}/state.sqlite3`), damaged);
  assert.equal((Deno.statSync(moved.kept_in).mode ?? 0) & 0o777, 0o700);
  await fluzo.must("run", "after the damage");
  const listed = await fluzo.must("history", "list");
  assert.match(listed.stdout, /after the damage/);
  assert.match(listed.stdout, /Set aside as damaged: \.fluzodrive\/damaged-\d{8}T\d{6}Z/);
  simulator.verify();
});

Deno.test("a lost database is not taken for an empty one by whoever looks", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator(TURNS.slice(0, 2));
  fluzo.repository.commit({ "a.txt": "1\n" });
  await fluzo.setUp(simulator.baseUrl);
  await fluzo.must("run", "read the first", "--allow-exec", "seq 20000");
  const directory = `${fluzo.repository.path}/.fluzodrive`;
  for (const name of ["state.sqlite3", "state.sqlite3-wal", "state.sqlite3-shm"]) {
    await Deno.remove(`${directory}/${name}`).catch(() => {});
  }
  const listed = await fluzo.run("task", "list");
  assert.equal(listed.code, 35);
  assert.match(listed.stderr, /missing but its records are not/);
  const moved = await fluzo.must("history", "set-aside", "--yes");
  assert.match(moved.stdout, /begins a new journal/);
  assert.match((await fluzo.must("task", "list")).stdout, /no task/);
});

Deno.test("a purge keeps the session of a task at work", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator([says("x")]);
  fluzo.repository.commit({ "a.txt": "1\n" });
  await fluzo.setUp(simulator.baseUrl);
  await fluzo.must("run", "say x");
  const { sessions: [{ id }] } = JSON.parse(
    (await fluzo.must("session", "list", "--output", "json")).stdout,
  );
  // As a task at work that another process has begun.
  const database = new DatabaseSync(`${fluzo.repository.path}/.fluzodrive/state.sqlite3`);
  database.exec("UPDATE operations SET left_running = NULL; UPDATE tasks SET state = 'running'");
  database.close();
  const dry = await fluzo.must("history", "purge", "--session", id, "--dry-run");
  assert.match(dry.stdout, /but it is kept: Cannot delete the session of task .* at work/);
});
