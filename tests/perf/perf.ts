/**
 * `deno task perf`: measures, never asserts. Prints a Markdown table with the number of samples, the
 * median and percentiles. Build first: what is measured is what is installed.
 *
 *   deno task perf [--rounds N]
 */
import { calls, reply, says } from "../support/simulated.ts";
import { permissionFlags } from "../../src/cli/permissions.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import { openStore } from "../../src/runtime/storage/client.ts";
import { systemClock } from "../../src/runtime/system_clock.ts";
import { startWorkspaceWorker } from "../../src/runtime/workspace/client.ts";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import type { Scenario } from "../../scenarios/simulator/scenario.ts";
import { TestFolder } from "../support/repository.ts";
import { measureCancel } from "./cancel.ts";
import { median, report, rows } from "./report.ts";

const BUNDLE = new URL("../../build/fluzo.js", import.meta.url).pathname;
const rounds = Number(Deno.args[Deno.args.indexOf("--rounds") + 1] ?? 10) || 10;

/** Deltas of the streaming profile: a long answer of word-sized pieces, one chunk each. */
const DELTAS = 20_000;

say("| what | samples | median | p95 | p99 | max |");
say("|---|---:|---:|---:|---:|---:|");
await measureStore();
await measureFiles();
await measureCancel(rounds);
await measureProgram();
for (const row of rows) say(row);

async function measureStore(): Promise<void> {
  using folder = new TestFolder();
  const directory = `${folder.path}/.fluzodrive`;
  const opening = openStore({ directory, mode: "write", ownerAlive: () => true });
  const store = await opening.opened;
  if (!store.ok) throw new Error(store.error.detail);
  const ids = randomIds(systemClock);
  const samples: number[] = [];
  for (let i = 0; i < 1000; i++) {
    const begin = performance.now();
    await store.value.append([{
      id: ids.next("event"),
      wallMs: systemClock.wallMs(),
      context: { sessionId: null, taskId: null, attemptId: null, traceId: null, spanId: null },
      event: { type: "session_created", sessionId: ids.next("session"), title: `session ${i}` },
    }]);
    samples.push(performance.now() - begin);
  }
  await opening.close();
  report("journal: one commit, worker round trip, ms", samples);
}

async function measureFiles(): Promise<void> {
  using folder = new TestFolder();
  for (let i = 0; i < 20_000; i++) {
    folder.write(`d${i % 200}/f${i}.ts`, `export const value${i} = ${i};\n// line\n`.repeat(5));
  }
  await using worker = startWorkspaceWorker();
  const opened = await worker.call({ type: "open", root: folder.path, protectedPaths: [] });
  if (!opened.ok) throw new Error(opened.error.detail);
  const reads: number[] = [];
  for (let i = 0; i < 1000; i++) {
    const begin = performance.now();
    const read = await worker.call({
      type: "read",
      path: `d${i % 200}/f${i}.ts`,
      firstLine: 1,
      maxLines: 100,
      maxBytes: 65_536,
    });
    if (!read.ok) throw new Error(read.error.detail);
    reads.push(performance.now() - begin);
  }
  report("files: read a small file through openat2, worker round trip, ms", reads);
  for (
    const [name, mode, pattern] of [
      ["literal", "literal", "value19999 ="],
      ["regular expression", "regex", "value1999\\d ="],
    ] as const
  ) {
    const searches: number[] = [];
    for (let i = 0; i < 5; i++) {
      const begin = performance.now();
      const found = await worker.call({
        type: "search",
        pattern,
        mode,
        caseSensitive: true,
        path: ".",
        glob: null,
        maxMatches: 100,
        maxBytes: 65_536,
        candidates: null,
      });
      if (!found.ok || found.value.matches.length === 0) throw new Error("Nothing was found");
      searches.push(performance.now() - begin);
    }
    report(`files: search 20,000 files, ${name}, ms`, searches);
  }
}

/** One run of the installed program, timed from just before its start. */
interface ProgramRun {
  readonly wallMs: number;
  readonly firstRequestMs: number;
  readonly cpuMs: number;
  readonly rssMb: number;
}

async function measureProgram(): Promise<void> {
  const four = script(4);
  const one = script(1);
  const versions: number[] = [];
  for (let i = 0; i <= rounds; i++) {
    const begin = performance.now();
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-config", ...permissionFlags(), BUNDLE, "--version"],
    }).output();
    if (!success) throw new Error("Build first: deno task build");
    if (i > 0) versions.push(performance.now() - begin);
  }
  report("program: --version, wall ms", versions);
  const turns = await runRounds(four);
  report("program: exec to first request, ms", turns.map((run) => run.firstRequestMs));
  report(
    "program: four turns (read, edit, command, text), wall ms",
    turns.map((run) => run.wallMs),
  );
  report("program: four turns, CPU ms", turns.map((run) => run.cpuMs));
  report("program: four turns, largest RSS MB", turns.map((run) => run.rssMb));
  const short = await runRounds(one);
  const long = await runRounds(stream());
  const floor = median(short.map((run) => run.cpuMs));
  report(
    `program: ${DELTAS} streamed deltas beyond one turn, CPU ms`,
    long.map((run) => run.cpuMs - floor),
  );
  report(`program: ${DELTAS} streamed deltas, largest RSS MB`, long.map((run) => run.rssMb));
}

async function runRounds(steps: Scenario["steps"]): Promise<readonly ProgramRun[]> {
  const runs: ProgramRun[] = [];
  for (let i = 0; i <= rounds; i++) {
    const run = await runOnce(steps);
    // The first one fills caches.
    if (i > 0) runs.push(run);
  }
  return runs;
}

async function runOnce(steps: Scenario["steps"]): Promise<ProgramRun> {
  using folder = new TestFolder();
  using home = new TestFolder();
  folder.commit({ "hello.txt": "hello world\n" });
  let firstRequestMs = 0;
  let begin = 0;
  await using simulator = startSimulator(steps, {
    onRequest: () => {
      firstRequestMs ||= performance.now() - begin;
    },
  });
  const fluzo = ["run", "--no-config", ...permissionFlags(), BUNDLE];
  const env = {
    HOME: home.path,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    DENO_NO_UPDATE_CHECK: "1",
  };
  for (
    const args of [[
      "init",
      "--base-url",
      simulator.baseUrl,
      "--model",
      "m",
      "--yes",
      "--context-window",
      "200000",
    ], ["consent", "grant"]]
  ) {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [...fluzo, ...args],
      cwd: folder.path,
      env,
    }).output();
    if (!success) throw new Error(`fluzo ${args[0]} failed`);
  }
  begin = performance.now();
  const { code, stderr } = await new Deno.Command("/usr/bin/time", {
    args: ["-f", "%U %S %M", Deno.execPath(), ...fluzo, "run", "go", "--yolo"],
    cwd: folder.path,
    env,
    stdout: "null",
  }).output();
  const wallMs = performance.now() - begin;
  const text = new TextDecoder().decode(stderr);
  if (code !== 0) throw new Error(text);
  const [user, system, kilobytes] = (text.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return {
    wallMs,
    firstRequestMs,
    cpuMs: ((user ?? 0) + (system ?? 0)) * 1000,
    rssMb: (kilobytes ?? 0) / 1024,
  };
}

function script(turns: 1 | 4): Scenario["steps"] {
  if (turns === 1) return [says("done")];
  return [
    calls("read", { path: "hello.txt" }, "c1"),
    calls("edit", { path: "hello.txt", old_text: "world", new_text: "there" }, "c2"),
    calls("run", { command: ["cat", "hello.txt"] }, "c3"),
    says("done"),
  ];
}

function stream(): Scenario["steps"] {
  const frames = Array.from(
    { length: DELTAS },
    (_, i) => ({ type: "text" as const, text: ` word${i % 997}` }),
  );
  return [reply([...frames, { type: "finish", reason: "stop" }, { type: "done" }])];
}

function say(line: string): void {
  // deno-lint-ignore no-console -- the report itself
  console.log(line);
}
