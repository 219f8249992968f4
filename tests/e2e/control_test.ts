import assert from "node:assert/strict";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import type { TaskId } from "../../src/core/ids.ts";
import type { Steering } from "../../src/runtime/control/steering.ts";
import { openSteering } from "../../src/runtime/open_steering.ts";
import { workspaceIdentity } from "../../src/runtime/workspace/identity.ts";
import { type OwnerRecord, readOwnerRecord } from "../../src/runtime/workspace/owner_record.ts";
import { Background } from "../support/background.ts";
import { TestFluzo } from "../support/fluzo.ts";
import { newId } from "../support/ids.ts";
import { endlessStream } from "../support/endless_stream.ts";
import { calls, reply, says } from "../support/simulated.ts";
import { TestHost } from "../support/test_host.ts";
import { reportLine } from "../support/report_line.ts";

/** More than an answer from another terminal may take on any machine, in milliseconds. */
const MAX_ANSWER_MS = 2000;

/** Longer than a kill takes on any machine, in seconds. */
const GRACE_SECONDS = 30;

/** The task at work, and how its owner is reached. */
function ownerOf(fluzo: TestFluzo): OwnerRecord & { readonly task: TaskId } {
  const record = readOwnerRecord(`${fluzo.repository.path}/.fluzodrive`);
  assert.ok(record !== null && record.task !== null);
  return { ...record, task: record.task };
}

/** The same way in that the command line takes. */
async function steer(fluzo: TestFluzo): Promise<Steering> {
  const identity = await workspaceIdentity(fluzo.repository.path);
  const opened = await openSteering({ identity, variable: () => null });
  assert.ok(opened.ok, JSON.stringify(opened));
  assert.equal(opened.value.by, "owner");
  return opened.value;
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  const ms = performance.now() - startMs;
  reportLine(`control: ${name}: ${ms.toFixed(1)} ms`);
  assert.ok(ms < MAX_ANSWER_MS, `${name} took ${ms} ms`);
  return result;
}

const cancel = (taskId: TaskId) =>
  ({ type: "cancel_task", commandId: newId("command"), taskId, by: "user" }) as const;

/** Begins a task, and waits until a line of its progress matches. */
async function begin(fluzo: TestFluzo, args: readonly string[], line: RegExp): Promise<Background> {
  const owner = new Background(fluzo.command(["run", "go", "--output", "json", ...args]));
  await owner.line("stderr", line);
  return owner;
}

Deno.test("a task is cancelled from another process while its answer streams", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using server = endlessStream();
  await fluzo.setUp(server.baseUrl);
  await using owner = new Background(fluzo.command(["run", "go", "--output", "json"]));
  await server.flowing;
  const { task } = ownerOf(fluzo);
  await using remote = await steer(fluzo);
  const command = cancel(task);
  const first = await timed("cancel while streaming, answered", () => remote.execute(command));
  assert.deepEqual(first, {
    ok: true,
    value: { taskId: task, state: "stopping", changed: true },
  });
  assert.deepEqual(await remote.execute(command), first, "the same command gets the same reply");
  assert.equal((await owner.status).code, 30);
  const result = JSON.parse(await owner.text("stdout"));
  assert.equal(result.status, "cancelled");
  const shown = await fluzo.must("session", "open", result.session_id);
  assert.match(shown.stdout, /word word/, "what had come is kept");
  const again = await fluzo.must("task", "cancel", task);
  assert.match(again.stdout, /was cancelled before/);
  assert.equal(server.requests, 1, "nothing was asked after the acknowledgement");
});

Deno.test("a task is cancelled from another terminal while its command floods its output", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([
    calls("write", { path: "kept.txt", content: "kept\n" }),
    calls("shell", { script: "yes noise" }),
  ]);
  await fluzo.setUp(simulator.baseUrl);
  await using owner = await begin(fluzo, ["--allow-shell", "yes noise"], /… .*yes noise/);
  const { task } = ownerOf(fluzo);
  await using remote = await steer(fluzo);
  for (let round = 0; round < 3; round++) {
    await timed(
      "query while a command floods",
      () => remote.query({ type: "show_task", taskId: task }),
    );
  }
  const stopped = await timed(
    "fluzo task cancel, as a whole process",
    () => fluzo.must("task", "cancel", task),
  );
  assert.match(stopped.stdout, /Stopping .*Nothing more is begun/);
  assert.equal((await owner.status).code, 30);
  assert.match(await owner.text("stderr"), /stopping: the task is cancelled/);
  const shown = await fluzo.must("task", "show", task);
  assert.match(shown.stdout, /cancelled/);
  assert.match(shown.stdout, /Interrupted by the user, effects possible/);
  assert.equal(fluzo.repository.read("kept.txt"), "kept\n");
  simulator.verify();
});

Deno.test("a command that ignores its end is killed from another terminal, after a yes", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  const script = "trap '' TERM; touch trapped; while :; do sleep 0.05; done";
  await using simulator = startSimulator([calls("shell", { script })]);
  await fluzo.setUp(simulator.baseUrl, {
    config: `[tools.shell]\ntermination_grace_seconds = ${GRACE_SECONDS}\n`,
  });
  await using owner = await begin(fluzo, ["--allow-shell", script], /… .*trapped/);
  while (!fluzo.repository.exists("trapped")) await new Promise((next) => setTimeout(next, 5));
  const { task } = ownerOf(fluzo);
  const startMs = performance.now();
  await fluzo.must("task", "cancel", task);
  const unconfirmed = await fluzo.run("task", "kill", task);
  assert.equal(unconfirmed.code, 31);
  assert.match(unconfirmed.stderr, /trapped.*\(process \d+\)/, "it names what would be killed");
  const killed = await timed(
    "fluzo task kill, as a whole process",
    () => fluzo.must("task", "kill", task, "--yes", "--output", "json"),
  );
  assert.deepEqual(JSON.parse(killed.stdout), {
    type: "stopped",
    task_id: task,
    state: "stopping",
    changed: true,
  });
  assert.equal((await owner.status).code, 30);
  assert.ok(performance.now() - startMs < GRACE_SECONDS * 1000, "it waited for the grace");
  assert.match(await owner.text("stderr"), /killing what still runs/);
  const replay = await fluzo.must("replay", task);
  assert.match(replay.stdout, /force stop asked for by user/);
});

Deno.test("the second Ctrl+C kills what the first only asked to end", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  const script = "trap '' TERM; touch trapped; while :; do sleep 0.05; done";
  await using simulator = startSimulator([calls("shell", { script })]);
  await fluzo.setUp(simulator.baseUrl, {
    config: `[tools.shell]\ntermination_grace_seconds = ${GRACE_SECONDS}\n`,
  });
  await using owner = await begin(fluzo, ["--allow-shell", script], /… .*trapped/);
  while (!fluzo.repository.exists("trapped")) await new Promise((next) => setTimeout(next, 5));
  const startMs = performance.now();
  owner.kill("SIGINT");
  await owner.line("stderr", /Stopping \(SIGINT\)/);
  owner.kill("SIGINT");
  await owner.line("stderr", /Killing/);
  assert.equal((await owner.status).code, 130);
  assert.ok(performance.now() - startMs < GRACE_SECONDS * 1000, "it waited for the grace");
});

Deno.test("a task at work hears what is said to it, once", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  const script = "until [ -e go ]; do sleep 0.02; done";
  await using simulator = startSimulator([calls("shell", { script }), says("Understood.")]);
  await fluzo.setUp(simulator.baseUrl);
  await using owner = await begin(fluzo, ["--allow-shell", script], /… .*until/);
  const { task } = ownerOf(fluzo);
  assert.match((await fluzo.must("task", "say", task, "and in German")).stdout, /Queued/);
  await using remote = await steer(fluzo);
  const command = {
    type: "queue_message",
    commandId: newId("command"),
    taskId: task,
    text: "said once",
  } as const;
  const first = await remote.execute(command);
  assert.ok(first.ok);
  assert.deepEqual(await remote.execute(command), first);
  const extended = await fluzo.must("task", "extend", task, "--turns", "5");
  assert.match(extended.stdout, /35 turns/);
  assert.match(extended.stdout, /goes on where it runs/);
  fluzo.repository.write("go", "");
  assert.equal((await owner.status).code, 0);
  const asked = JSON.stringify(simulator.requests.at(-1)?.body);
  assert.equal(asked.split("and in German").length - 1, 1);
  assert.equal(asked.split("said once").length - 1, 1);
  assert.equal((await fluzo.run("task", "say", task, "too late")).code, 41);
  simulator.verify();
});

Deno.test("a task that waits is answered from another terminal", async () => {
  for (const [verb, made] of [["approve", true], ["deny", false]] as const) {
    using fluzo = new TestFluzo();
    TestHost.prepare(fluzo.repository);
    const main = new URL("../support/waiting_main.ts", import.meta.url).pathname;
    await using owner = new Background(
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "-A", main, fluzo.repository.path],
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }),
    );
    await owner.line("stdout", /^waiting$/);
    const { task } = ownerOf(fluzo);
    const answered = await fluzo.must("task", verb, task);
    assert.match(answered.stdout, /touch made\.txt/);
    assert.match(answered.stdout, /goes on where it runs/);
    await owner.line("stdout", /^completed$/);
    assert.equal((await owner.status).code, 0);
    assert.equal(fluzo.repository.exists("made.txt"), made);
  }
});

Deno.test("an owner that was killed leaves nothing that keeps the next one out", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using server = endlessStream();
  await fluzo.setUp(server.baseUrl);
  await using owner = new Background(fluzo.command(["run", "go"]));
  await server.flowing;
  const { task, control } = ownerOf(fluzo);
  assert.ok(control.type === "listening");
  owner.kill("SIGKILL");
  await owner.status;
  assert.equal(Deno.lstatSync(control.path).isSocket, true, "the dead owner's socket is there");
  assert.match((await fluzo.must("task", "list")).stdout, /interrupted/);
  assert.match((await fluzo.must("task", "cancel", task)).stdout, /Cancelled/);
  assert.throws(() => Deno.lstatSync(control.path), Deno.errors.NotFound);
  assert.equal(fluzo.repository.exists(".fluzodrive/owner.json"), false);
  assert.match((await fluzo.must("task", "show", task)).stdout, /cancelled/);
});

Deno.test("of two that start together one owns the workspace, and readers are never locked out", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  let gate = Promise.withResolvers<void>();
  let asked = 0;
  const twoOwners = Promise.withResolvers<never>();
  const answers = Array.from({ length: 20 }, () =>
    reply([
      { type: "text", text: "done" },
      { type: "finish", reason: "stop" },
      { type: "done" },
    ]));
  await using simulator = startSimulator(answers, {
    gate: () => {
      if (++asked > 1) twoOwners.reject(new Error("Two owners ask at the same time"));
      return gate.promise;
    },
  });
  await fluzo.setUp(simulator.baseUrl);
  const started: Background[] = [];
  let racing = true;
  let looks = 0;
  const looking = (async () => {
    while (racing) {
      const { code, stderr } = await fluzo.run("task", "list");
      looks++;
      assert.equal(code, 0, stderr);
    }
  })();
  try {
    for (let round = 0; round < 20; round++) {
      gate = Promise.withResolvers<void>();
      asked = 0;
      const both = [1, 2].map(() => new Background(fluzo.command(["run", "go"])));
      started.push(...both);
      const loser = await Promise.race([
        twoOwners.promise,
        ...both.map(async (one) => {
          await one.status;
          return one;
        }),
      ]);
      assert.equal((await loser.status).code, 32, await loser.text("stderr"));
      const winner = both.find((one) => one !== loser);
      assert.ok(winner);
      assert.match(await loser.text("stderr"), new RegExp(`process ${winner.pid}`));
      assert.match(await loser.text("stderr"), /fluzo task (?:show|cancel)/);
      gate.resolve();
      assert.equal((await winner.status).code, 0, await winner.text("stderr"));
    }
  } finally {
    racing = false;
    gate.resolve();
    for (const one of started) await one[Symbol.asyncDispose]();
  }
  await looking;
  reportLine(`racing starts: 20 rounds, ${looks} looks meanwhile`);
  simulator.verify();
});
