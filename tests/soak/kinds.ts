import assert from "node:assert/strict";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import type { Scenario } from "../../scenarios/simulator/scenario.ts";
import { Background } from "../support/background.ts";
import type { FluzoRun, TestFluzo } from "../support/fluzo.ts";
import type { SeededRandom } from "../support/seeded_random.ts";
import { calls, reply, says } from "../support/simulated.ts";

type Step = Scenario["steps"][number];

/** What one run is made of: a workspace of its own, and numbers that only its seed decides. */
export interface SoakRun {
  readonly fluzo: TestFluzo;
  readonly random: SeededRandom;
}

/** One kind of run. It throws when anything ends otherwise than it must. */
export type Kind = (run: SoakRun) => Promise<void>;

const FILE = "a.txt";
const READ = calls("read", { path: FILE }, "c1");
const SLEEP = "echo begun; sleep 300";
const TOUCH = calls("run", { command: ["touch", "made"] }, "c9");

/** Sets the workspace up for a server with these answers. */
async function serving(
  { fluzo }: SoakRun,
  steps: readonly Step[],
  options: { readonly config?: string; readonly init?: readonly string[] } = {},
): Promise<ReturnType<typeof startSimulator>> {
  fluzo.repository.commit({ [FILE]: "one\n", "b.txt": "two\n" });
  const simulator = startSimulator([...steps]);
  await fluzo.setUp(simulator.baseUrl, options);
  return simulator;
}

function ended(run: FluzoRun, code: number): void {
  assert.equal(run.code, code, `exit ${run.code} instead of ${code}:\n${run.stdout}${run.stderr}`);
  assert.doesNotMatch(run.stderr, /defect of its own/);
}

async function newestTask(fluzo: TestFluzo): Promise<{ id: string; state: string }> {
  const { stdout } = await fluzo.must("task", "list", "--output", "json");
  return JSON.parse(stdout).tasks[0];
}

/** Answers whatever a resume asks for, until the task has come to its end. */
async function resumeToEnd(fluzo: TestFluzo, id: string): Promise<FluzoRun> {
  const resumed = await fluzo.run("session", "resume", id, "--yolo");
  if (resumed.code !== 33) return resumed;
  const unknown = [...new Set(resumed.stderr.match(/op_[0-9a-z]{26}/g) ?? [])];
  return await fluzo.run(
    "session",
    "resume",
    id,
    "--yolo",
    ...unknown.flatMap((operation) => ["--accept-unknown", operation]),
  );
}

const text: Kind = async (run) => {
  const words = "word ".repeat(1 + run.random.below(400));
  await using simulator = await serving(run, [says(words)]);
  ended(await run.fluzo.run("run", "say something"), 0);
  simulator.verify();
};

const edit: Kind = async (run) => {
  const rounds = 1 + run.random.below(4);
  const steps: Step[] = [READ];
  let before = "one";
  for (let i = 0; i < rounds; i++) {
    const after = `${before} ${run.random.below(1000)}`;
    steps.push(calls("edit", { path: FILE, old_text: before, new_text: after }, `e${i}`));
    before = after;
  }
  await using simulator = await serving(run, [...steps, says("Done.")], {
    init: ["--verify", `grep '${before}' ${FILE}`],
  });
  ended(await run.fluzo.run("run", "edit it"), 0);
  assert.equal(run.fluzo.repository.read(FILE), `${before}\n`);
  simulator.verify();
};

const denied: Kind = async (run) => {
  await using simulator = await serving(run, [TOUCH, says("Then not.")]);
  ended(await run.fluzo.run("run", "make it", "--on-ask", "deny"), 11);
  assert.equal(run.fluzo.repository.exists("made"), false);
  simulator.verify();
};

const approved: Kind = async (run) => {
  const yes = run.random.below(2) === 0;
  await using simulator = await serving(run, [TOUCH, says("Done.")]);
  ended(await run.fluzo.run("run", "make it"), 10);
  const { id } = await newestTask(run.fluzo);
  ended(await run.fluzo.run("task", yes ? "approve" : "deny", id), 0);
  ended(await run.fluzo.run("session", "resume", id), yes ? 0 : 11);
  assert.equal(run.fluzo.repository.exists("made"), yes);
  simulator.verify();
};

const budget: Kind = async (run) => {
  await using simulator = await serving(run, [READ, says("It is one.")], {
    config: "[harness]\nmax_turns = 1\n",
  });
  ended(await run.fluzo.run("run", "read it"), 12);
  const { id } = await newestTask(run.fluzo);
  ended(await run.fluzo.run("task", "extend", id, "--turns", "1"), 0);
  ended(await run.fluzo.run("session", "resume", id), 0);
  simulator.verify();
};

const repeated: Kind = async (run) => {
  const same = Array.from({ length: 8 }, (_, i) => calls("read", { path: FILE }, `r${i}`));
  await using _simulator = await serving(run, same);
  ended(await run.fluzo.run("run", "read it for ever"), 16);
};

const unverified: Kind = async (run) => {
  await using simulator = await serving(run, [says("a"), says("b"), says("c")], {
    init: ["--verify", "false"],
  });
  ended(await run.fluzo.run("run", "prove it"), 34);
  simulator.verify();
};

/** A body or a stream that no correct server sends, and the exit it must lead to. */
const FAULTS: readonly [status: number, body: Step["reply"]["body"], exit: number][] = [
  [401, { error: { message: "no key" } }, 20],
  [403, { error: { message: "not for you" } }, 20],
  [429, { error: { message: "too many" } }, 21],
  [302, "", 22],
  [400, { error: { message: "bad request" } }, 25],
  [404, { error: { message: "no such model" } }, 25],
];

const refusedByServer: Kind = async (run) => {
  const [status, body, exit] = run.random.pick(
    FAULTS as [typeof FAULTS[number], ...typeof FAULTS[number][]],
  );
  const headers = status === 302 ? { location: "http://127.0.0.1:9/" } : {};
  const step: Step = {
    expect: { last_message: [], conversation: [] },
    reply: { status, headers, hang: false, body },
  };
  await using simulator = await serving(run, [step]);
  ended(await run.fluzo.run("run", "say something"), exit);
  simulator.verify();
};

const brokenStream: Kind = async (run) => {
  const some = Array.from(
    { length: 1 + run.random.below(50) },
    (_, i) => ({ type: "text", text: ` word${i}` }) as const,
  );
  const end = run.random.pick<NonNullable<Step["reply"]["frames"]>[number]>([
    { type: "cut" },
    { type: "raw", text: "data: {not json\n\n" },
    { type: "raw", text: 'data: {"error":{"message":"out of memory","code":500}}\n\n' },
  ]);
  await using _simulator = await serving(run, [reply([...some, end])]);
  const broken = await run.fluzo.run("run", "say something");
  assert.ok([23, 24].includes(broken.code), `exit ${broken.code}: ${broken.stderr}`);
  const { id } = await newestTask(run.fluzo);
  assert.match((await run.fluzo.must("task", "show", id)).stdout, /failed|blocked/);
};

const signalled: Kind = async (run) => {
  const [signal, exit] = run.random.pick([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as [[Deno.Signal, number], ...[Deno.Signal, number][]]);
  await using simulator = await serving(run, [
    reply([{ type: "text", text: "begun" }, { type: "hang" }]),
  ]);
  await using owner = new Background(run.fluzo.command(["run", "say something"]));
  await simulator.hanging;
  await pause(run.random.below(30));
  owner.kill(signal);
  const { code } = await owner.status;
  assert.equal(code, exit, await owner.text("stderr"));
};

const cancelled: Kind = async (run) => {
  await using _simulator = await serving(run, [calls("shell", { script: SLEEP })]);
  await using owner = new Background(
    run.fluzo.command(["run", "wait", "--allow-shell", SLEEP]),
  );
  await owner.line("stderr", /… .*sleep 300/);
  await pause(run.random.below(60));
  const { id } = await newestTask(run.fluzo);
  const words = run.random.below(2) === 0 ? ["task", "cancel", id] : ["task", "kill", id, "--yes"];
  ended(await run.fluzo.run(...words), 0);
  assert.equal((await owner.status).code, 30, await owner.text("stderr"));
  assert.equal((await newestTask(run.fluzo)).state, "cancelled");
};

/** Longest life of a run that is killed, in milliseconds: about what the whole of it takes. */
const MAX_LIFE_MS = 450;

const killed: Kind = async (run) => {
  const slow = "touch half; sleep 0.2; touch whole";
  const steps = [
    READ,
    calls("edit", { path: FILE, old_text: "one", new_text: "1" }, "c2"),
    calls("shell", { script: slow }, "c3"),
    says("Done."),
  ];
  await using first = await serving(run, steps);
  await using owner = new Background(run.fluzo.command(["run", "work", "--yolo"]));
  await pause(run.random.below(MAX_LIFE_MS));
  owner.kill("SIGKILL");
  await owner.status;
  const listed = await run.fluzo.must("task", "list", "--output", "json");
  const [task] = JSON.parse(listed.stdout).tasks;
  // Killed before its first event, it left nothing to go on with.
  if (task === undefined) return;
  assert.ok(
    task.derived === "interrupted" || ["completed", "ready", "pending"].includes(task.state),
    JSON.stringify(task),
  );
  if (task.state === "completed") return;
  // A server of its own: what the killed one had asked is asked anew, or not at all.
  await using second = startSimulator(Array.from({ length: 4 }, () => says("Done then.")));
  const config = run.fluzo.repository.read(".fluzo").replace(first.baseUrl, second.baseUrl);
  run.fluzo.repository.write(".fluzo", config);
  await run.fluzo.must("consent", "grant");
  const resumed = await resumeToEnd(run.fluzo, task.id);
  ended(resumed, 0);
};

const leaving: Kind = async (run) => {
  const script = "setsid sleep 300 > /dev/null 2>&1 & echo left";
  await using simulator = await serving(run, [calls("shell", { script }), says("Done.")]);
  ended(await run.fluzo.run("run", "leave something", "--allow-shell", script), 0);
  simulator.verify();
};

const racing: Kind = async (run) => {
  await using simulator = await serving(run, [
    reply([{ type: "text", text: "begun" }, { type: "hang" }]),
  ]);
  const owners = [0, 1].map(() => new Background(run.fluzo.command(["run", "say something"])));
  await using first = owners[0];
  await using second = owners[1];
  await simulator.hanging;
  const codes = Promise.all([first?.status, second?.status]);
  const { id } = await newestTask(run.fluzo);
  ended(await run.fluzo.run("task", "cancel", id), 0);
  const found = (await codes).map((status) => status?.code).sort();
  assert.deepEqual(found, [30, 32], "one owner, one conflict");
};

const purged: Kind = async (run) => {
  await using simulator = await serving(run, [says("First."), says("Second.")]);
  ended(await run.fluzo.run("run", "say first"), 0);
  ended(await run.fluzo.run("run", "say second"), 0);
  const { stdout } = await run.fluzo.must("history", "list", "--output", "json");
  const { sessions } = JSON.parse(stdout);
  const { id } = run.random.pick(sessions as [{ id: string }]);
  ended(await run.fluzo.run("history", "purge", "--session", id, "--yes"), 0);
  ended(await run.fluzo.run("session", "open", id), 36);
  simulator.verify();
};

/** Every kind, by its name in the report. */
export const KINDS: Readonly<Record<string, Kind>> = {
  text,
  edit,
  denied,
  "approved or denied later": approved,
  "budget, then more": budget,
  "repeated calls": repeated,
  "verification fails": unverified,
  "refused by the server": refusedByServer,
  "broken stream": brokenStream,
  signalled,
  "cancelled or killed from another process": cancelled,
  "killed, then resumed": killed,
  "a process is left": leaving,
  "two at once": racing,
  "a session is deleted": purged,
};

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
