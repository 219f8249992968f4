import assert from "node:assert/strict";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { type FluzoRun, TestFluzo } from "../support/fluzo.ts";
import { calls, says } from "../support/simulated.ts";

Deno.test("fluzo explains itself, and names what it does not know", async () => {
  using fluzo = new TestFluzo();
  assert.match((await fluzo.must("--help")).stdout, /run \[TEXT\] /);
  assert.match((await fluzo.must("run", "--help")).stdout, /--allow-exec COMMAND/);
  assert.match((await fluzo.must("--version")).stdout, /^fluzo \d+\.\d+\.\d+\n$/);
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["rum", "x"], /did you mean "fluzo run"/],
    [["task"], /"fluzo task" needs one of: list, show, diff/],
    [["run", "x", "--yollo"], /Unknown option "--yollo": did you mean "--yolo"/],
    [["run", "x", "--verify"], /Option "--verify" needs a value: COMMAND/],
    [["run", "x", "--output", "xml"], /"xml" is not one of text, json, stream-json/],
    [["run", "x", "y"], /Unexpected argument "y"/],
    [["run", ""], /The request is empty/],
    [["run", "x", "--allow-exec", "a && b"], /Unquoted "&"/],
    [["run", "x", "--workspace", "/nowhere"], /Cannot work in "\/nowhere": it does not exist/],
    [["task", "show"], /Missing ID/],
    [["init"], /Missing --base-url/],
  ];
  for (const [args, expected] of wrong) {
    const run = await fluzo.run(...args);
    assert.equal(run.code, 2, args.join(" "));
    assert.match(run.stderr, expected);
    assert.equal(run.stdout, "");
  }
});

Deno.test("fluzo run without configuration or consent contacts nothing", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  const unconfigured = await fluzo.run("run", "x");
  assert.equal(unconfigured.code, 3);
  assert.match(unconfigured.stderr, /fluzo init/);
  await using simulator = startSimulator([]);
  await fluzo.must("init", "--base-url", simulator.baseUrl, "--model", "m", "--yes");
  const missing = await fluzo.run("run", "x");
  assert.equal(missing.code, 5);
  assert.match(missing.stderr, /fluzo consent grant/);
  await fluzo.must("consent", "grant");
  fluzo.repository.write(".fluzo", fluzo.repository.read(".fluzo").replace(":", ":1"));
  const changed = await fluzo.run("consent", "show");
  assert.equal(changed.code, 0);
  fluzo.repository.write(
    ".fluzo",
    fluzo.repository.read(".fluzo").replace(":1", ":").replace('"scripted"', '"other"').replace(
      'model = "m"',
      'model = "other"',
    ),
  );
  const again = await fluzo.run("run", "x");
  assert.equal(again.code, 5);
  assert.match(again.stderr, /changed since you agreed/);
  await fluzo.must("consent", "revoke");
  assert.equal((await fluzo.run("run", "x")).code, 5);
  assert.equal(simulator.requests.length, 0);
});

Deno.test("fluzo init replaces only when told to, and keeps what was there", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  fluzo.repository.write(".fluzo", "old = \xff bytes");
  const args = ["init", "--base-url", "http://127.0.0.1:1/v1", "--model", "m"];
  assert.equal((await fluzo.run(...args)).code, 31);
  assert.equal(fluzo.repository.read(".fluzo"), "old = \xff bytes");
  const done = JSON.parse((await fluzo.must(...args, "--yes", "--output", "json")).stdout);
  assert.equal(Deno.readTextFileSync(done.backup), "old = \xff bytes");
  assert.equal((Deno.statSync(done.backup).mode ?? 0) & 0o777, 0o600);
  assert.match(fluzo.repository.read(".git/info/exclude"), /^\/\.fluzodrive\/$/m);
  const invalid = await fluzo.run("init", "--base-url", "ftp://x", "--model", "m", "--yes");
  assert.equal(invalid.code, 4);
  assert.match(invalid.stderr, /models\.coder\.base_url/);
});

Deno.test("fluzo stores nothing where Git would take it", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([]);
  await fluzo.must("init", "--base-url", simulator.baseUrl, "--model", "m");
  await fluzo.must("consent", "grant");
  const run = await fluzo.run("run", "x");
  assert.equal(run.code, 35);
  assert.match(run.stderr, /not ignore/);
  assert.equal(fluzo.repository.exists(".fluzodrive"), false);
});

Deno.test("--output json prints one object, whatever happens", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  const failed = await fluzo.run("run", "x", "--output", "json");
  assert.equal(failed.code, 3);
  assert.equal(JSON.parse(failed.stdout).exit.name, "configuration_required");
  await using simulator = startSimulator([says("bidi \u202e and \x1b[2J and \u009b end")]);
  await fluzo.setUp(simulator.baseUrl);
  const run = await fluzo.run("run", "x", "--output", "json");
  assert.equal(run.stdout.trim().split("\n").length, 1);
  assert.equal(JSON.parse(run.stdout).answer, "bidi \u202e and \x1b[2J and \u009b end");
  // deno-lint-ignore no-control-regex -- control characters are what must not be there
  assert.doesNotMatch(run.stdout, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

Deno.test("text output is harmless to a terminal", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([says("a\x1b]0;title\x07b\u202ec\x9b2Jd")]);
  await fluzo.setUp(simulator.baseUrl);
  const { stdout, stderr } = await fluzo.must("run", "x");
  assert.match(stdout, /^abcd\n/);
  // deno-lint-ignore no-control-regex -- control characters are what must not be there
  assert.doesNotMatch(stdout + stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

Deno.test("--output stream-json prints objects that end with the result", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([calls("read", { path: "a.txt" }), says("it is 1")]);
  await fluzo.setUp(simulator.baseUrl);
  const { stdout } = await fluzo.must("run", "x", "--output", "stream-json");
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.at(-1).type, "result");
  const sequences = lines.filter(({ type }) => type === "event").map(({ envelope }) =>
    envelope.sequence
  );
  assert.deepEqual(sequences, sequences.toSorted((a, b) => a - b));
  assert.equal(new Set(sequences).size, sequences.length);
  assert.ok(lines.some(({ type, text }) => type === "text" && text.includes("it is 1")));
});

Deno.test("a closed pipe ends the output quietly", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([says("x".repeat(200_000))]);
  await fluzo.setUp(simulator.baseUrl);
  const child = fluzo.command(["run", "x", "--output", "json"]).spawn();
  await child.stdout.cancel();
  const [status, stderr] = await Promise.all([child.status, new Response(child.stderr).text()]);
  assert.equal(status.code, 0, stderr);
  assert.doesNotMatch(stderr, /pipe|error/i);
});

Deno.test("the request can come from standard input", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  const expect = {
    last_message: ["^from a pipe"],
    last_role: "user" as const,
    conversation: [],
  };
  await using simulator = startSimulator([{ ...says("ok"), expect }]);
  await fluzo.setUp(simulator.baseUrl);
  const child = fluzo.command(["run", "-"], { stdin: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("from a pipe\n"));
  await writer.close();
  const { code } = await child.output();
  simulator.verify();
  assert.equal(code, 0);
});

Deno.test("--continue goes on with the newest conversation", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([
    calls("read", { path: "a.txt" }),
    says("It is 1."),
    says("Still 1."),
  ]);
  await fluzo.setUp(simulator.baseUrl);
  assert.equal((await fluzo.run("run", "more", "--continue")).code, 2);
  await fluzo.must("run", "what is in a.txt");
  await fluzo.must("run", "and now", "--continue");
  simulator.verify();
  const last = simulator.requests.at(-1)?.body as { messages: { role: string; content: string }[] };
  assert.deepEqual(last.messages.map(({ role }) => role), [
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
});

Deno.test("a file with uncommitted changes needs a grant, and only that file", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "one\n", "b.txt": "one\n" });
  fluzo.repository.write("a.txt", "one\nmine\n");
  const script = [
    calls("read", { path: "a.txt" }),
    calls("edit", { path: "a.txt", old_text: "one", new_text: "two" }, "c2"),
  ];
  await using blocked = startSimulator(script);
  await fluzo.setUp(blocked.baseUrl);
  const run = await fluzo.run("run", "x");
  assert.equal(run.code, 10, run.stderr);
  assert.match(run.stderr, /--allow-touch a\.txt/);
  assert.equal(fluzo.repository.read("a.txt"), "one\nmine\n");
  await using granted = startSimulator([...script, says("done")]);
  fluzo.repository.write(
    ".fluzo",
    fluzo.repository.read(".fluzo").replace(blocked.baseUrl, granted.baseUrl),
  );
  await fluzo.must("consent", "grant");
  const touched = await fluzo.must("run", "x", "--allow-touch", "a.txt", "--output", "json");
  assert.equal(fluzo.repository.read("a.txt"), "two\nmine\n");
  const result = JSON.parse(touched.stdout);
  assert.deepEqual(result.changes, []);
  assert.deepEqual(result.pre_existing, [{ path: "a.txt", change: "modified", now: "changed" }]);
  assert.match(result.diff, /-one\n\+two/);
});

/** Starts a run whose command keeps running, and waits until it does. */
async function startLong(fluzo: TestFluzo): Promise<{
  readonly child: Deno.ChildProcess;
  readonly stderr: Promise<string>;
}> {
  const child = fluzo.command([
    "run",
    "x",
    "--allow-shell",
    "echo $$ > pid; mv pid begun; sleep 60",
    "--output",
    "json",
  ]).spawn();
  const stderr = new Response(child.stderr).text();
  for (let waited = 0; !fluzo.repository.exists("begun"); waited += 20) {
    if (waited > 20_000) throw new Error(`the command did not begin: ${await stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { child, stderr };
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`${signal} ends a run cleanly with ${code} and its processes with it`, async () => {
    using fluzo = new TestFluzo();
    fluzo.repository.commit({ "a.txt": "1\n" });
    await using simulator = startSimulator([
      calls("shell", { script: "echo $$ > pid; mv pid begun; sleep 60" }),
    ]);
    await fluzo.setUp(simulator.baseUrl);
    const { child, stderr } = await startLong(fluzo);
    child.kill(signal);
    const [status, stdout] = await Promise.all([child.status, new Response(child.stdout).text()]);
    assert.equal(status.code, code, await stderr);
    const result = JSON.parse(stdout);
    assert.equal(result.status, "cancelled");
    const shown = JSON.parse(
      (await fluzo.must("task", "show", result.task_id, "--output", "json")).stdout,
    );
    assert.equal(shown.task.state, "cancelled");
    assert.match(shown.operations[0].summary, /Interrupted by the user, effects possible/);
    assert.throws(() => Deno.kill(-Number(fluzo.repository.read("begun")), "SIGKILL"), {
      name: "NotFound",
    });
  });
}

Deno.test("one workspace has one owner; looking at it still works", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([
    calls("shell", { script: "echo $$ > pid; mv pid begun; sleep 60" }),
  ]);
  await fluzo.setUp(simulator.baseUrl);
  const { child, stderr } = await startLong(fluzo);
  const second = await fluzo.run("run", "y");
  assert.equal(second.code, 32, second.stderr);
  assert.match(second.stderr, new RegExp(`process ${child.pid}\\b.*task_`, "s"));
  const list = JSON.parse((await fluzo.must("task", "list", "--output", "json")).stdout);
  assert.equal(list.tasks[0].state, "running");
  assert.equal(list.tasks[0].derived, null);
  child.kill("SIGKILL");
  await Promise.all([child.status, stderr, child.stdout.cancel()]);
  const after = JSON.parse((await fluzo.must("task", "list", "--output", "json")).stdout);
  assert.equal(after.tasks[0].derived, "interrupted");
  // What the killed process had started is still there, and nobody's any more.
  Deno.kill(-Number(fluzo.repository.read("begun")), "SIGKILL");
});

/** Every byte that a run left behind or printed. */
function everything(fluzo: TestFluzo, runs: readonly FluzoRun[]): string {
  const texts = runs.map(({ stdout, stderr }) => stdout + stderr);
  const walk = (folder: string): void => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) walk(path);
      else texts.push(new TextDecoder("latin1").decode(Deno.readFileSync(path)));
    }
  };
  walk(fluzo.repository.path);
  walk(fluzo.home.path);
  return texts.join("\n");
}

Deno.test("a secret is in no file, no output and no child, though a run provokes it", async () => {
  const secret = "sk-Sentinel-7f3a91c2e5";
  using fluzo = new TestFluzo({ MY_GATEWAY_TOKEN: secret });
  fluzo.repository.commit({ "a.txt": "1\n" });
  const script = "env; echo end";
  const echo = `your key was ${secret}, in base 64 ${btoa(`Bearer ${secret}`)}`;
  await using simulator = startSimulator([
    calls("shell", { script }),
    calls("write", { path: "leak.txt", content: `token ${secret}\n` }, "c2"),
    says(echo),
  ], { apiKey: secret });
  await fluzo.setUp(simulator.baseUrl, { init: ["--api-key-env", "MY_GATEWAY_TOKEN"] });
  const run = await fluzo.run(
    "run",
    `use ${secret}`,
    "--allow-shell",
    script,
    "--output",
    "stream-json",
  );
  simulator.verify();
  assert.equal(run.code, 0, run.stderr);
  await using failing = startSimulator([{
    expect: { last_message: [], conversation: [] },
    reply: {
      status: 400,
      headers: {},
      hang: false,
      body: { error: { message: `bad key ${secret}` } },
    },
  }], { apiKey: secret });
  fluzo.repository.write(
    ".fluzo",
    fluzo.repository.read(".fluzo").replace(simulator.baseUrl, failing.baseUrl),
  );
  await fluzo.must("consent", "grant");
  const failed = await fluzo.run("run", "again");
  assert.equal(failed.code, 25, failed.stderr);
  const id = JSON.parse((await fluzo.must("task", "list", "--output", "json")).stdout).tasks[1].id;
  const looks = [await fluzo.must("task", "show", id), await fluzo.must("task", "diff", id)];
  const all = everything(fluzo, [run, failed, ...looks]);
  assert.ok(!all.includes(secret), "the secret is somewhere");
  assert.ok(!all.includes(btoa(secret).slice(2, 20)), "its base 64 is somewhere");
  assert.match(all, /\[redacted\]/);
  const childOutput = JSON.stringify(simulator.requests.at(1)?.body);
  assert.match(childOutput, /PATH=/);
  assert.doesNotMatch(childOutput, /MY_GATEWAY_TOKEN/);
});

Deno.test("session list, session open and replay show what happened and change nothing", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "one\n" });
  await using simulator = startSimulator([
    calls("read", { path: "a.txt" }),
    calls("shell", { script: "true" }, "c2"),
    says("It is one."),
  ]);
  await fluzo.setUp(simulator.baseUrl);
  const ran = JSON.parse((await fluzo.must("run", "look", "--yolo", "--output", "json")).stdout);
  const before = fluzo.repository.git("status", "--porcelain", "--ignored");
  const sessions = await fluzo.must("session", "list");
  assert.match(sessions.stdout, new RegExp(`^${ran.session_id} .* 1 task, \\d+ messages +look\n$`));
  const session = await fluzo.must("session", "open", ran.session_id);
  assert.match(session.stdout, /You\nlook/);
  assert.match(session.stdout, /read \{"path":"a\.txt"\}/);
  assert.match(session.stdout, /Fluzo\nIt is one\.\n$/);
  const first = await fluzo.must("replay", ran.task_id);
  const second = await fluzo.must("replay", ran.task_id);
  assert.equal(first.stdout, second.stdout, "the same events, the same timeline");
  const order = [
    "task created, YOLO: look",
    "request sent",
    "asked: read: read a.txt",
    "intent recorded",
    "performing",
    "asked: shell",
    "process ",
    "ok: Exit code 0",
    "task ended: completed",
  ];
  let at = 0;
  for (const words of order) {
    const found = first.stdout.indexOf(words, at);
    assert.ok(found >= at, `${words} is missing or out of order:\n${first.stdout}`);
    at = found;
  }
  const replay = JSON.parse((await fluzo.must("replay", ran.task_id, "--output", "json")).stdout);
  assert.equal(replay.events.length, first.stdout.trim().split("\n").length, "one line an event");
  assert.equal(fluzo.repository.git("status", "--porcelain", "--ignored"), before);
  for (const args of [["session", "open", "ses_0"], ["replay", "task_0"], ["task", "show", "x"]]) {
    assert.equal((await fluzo.run(...args)).code, 36, args.join(" "));
  }
});

Deno.test("completions know every command and its options", async () => {
  using fluzo = new TestFluzo();
  const complete = (words: string[]) => {
    const script = `${bash.stdout}
COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}
_fluzo; printf '%s\n' "\${COMPREPLY[@]}"`;
    const { stdout } = new Deno.Command("bash", { args: ["-c", script] }).outputSync();
    return new TextDecoder().decode(stdout).trim().split("\n");
  };
  const bash = await fluzo.must("completions", "bash");
  assert.ok(complete(["fluzo", ""]).includes("doctor"));
  assert.deepEqual(complete(["fluzo", "task", "s"]), ["show"]);
  assert.deepEqual(complete(["fluzo", "run", "--allow-"]), [
    "--allow-exec",
    "--allow-shell",
    "--allow-touch",
  ]);
  assert.deepEqual(complete(["fluzo", "task", "list", "--a"]), ["--all"]);
  assert.match(
    (await fluzo.must("completions", "fish")).stdout,
    /complete -c fluzo .*-l allow-exec -r/,
  );
  assert.match((await fluzo.must("completions", "zsh")).stdout, /^#compdef fluzo/);
  assert.equal((await fluzo.run("completions", "csh")).code, 2);
});
