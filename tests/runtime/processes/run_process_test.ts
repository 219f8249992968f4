import assert from "node:assert/strict";
import { OwnedGroups } from "../../../src/runtime/processes/owned_groups.ts";
import {
  type ProcessOutcome,
  type ProcessRequest,
  runProcess,
} from "../../../src/runtime/processes/run_process.ts";
import { testWith } from "../../support/tools.ts";
import { systemClock, systemTimers } from "../../../src/runtime/system_clock.ts";

const BASE: ProcessRequest = {
  executable: "/bin/sh",
  args: [],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  timeoutMs: 10_000,
  graceMs: 300,
  captureBytes: 65_536,
};

interface Run {
  readonly outcome: ProcessOutcome;
  readonly groups: OwnedGroups;
  readonly pid: number;
  readonly live: string;
}

async function run(
  script: string,
  changes: Partial<ProcessRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Run> {
  const groups = new OwnedGroups(systemTimers);
  let pid = 0;
  let live = "";
  const result = await runProcess({ ...BASE, args: ["-c", script], ...changes }, {
    groups,
    timers: systemTimers,
    clock: systemClock,
    signal,
    onStarted: (started) => {
      pid = started;
    },
    onOutput: (text) => {
      live += text;
    },
  });
  if (!result.ok) throw new Error(`not started: ${result.error.reason} ${result.error.detail}`);
  return { outcome: result.value, groups, pid, live };
}

Deno.test("runProcess() delivers arguments exactly, without a shell", async () => {
  const args = ["a b", "$HOME", "*", "'\"", "new\nline", ""];
  const { outcome } = await run("", { executable: "/usr/bin/printf", args: ["<%s>", ...args] });
  assert.equal(outcome.stdout, args.map((arg) => `<${arg}>`).join(""));
  assert.deepEqual(outcome.exit, { type: "code", code: 0 });
});

Deno.test("runProcess() closes standard input and gives no terminal", async () => {
  const { outcome } = await run("cat; (: </dev/tty) 2>/dev/null && echo tty; echo end");
  assert.equal(outcome.stdout, "end\n");
});

Deno.test("runProcess() passes exactly the given environment", async () => {
  const { outcome } = await run("", {
    executable: "/usr/bin/env",
    args: [],
    env: { A: "1", B: "x=y" },
  });
  assert.deepEqual(outcome.stdout.trim().split("\n").sort(), ["A=1", "B=x=y"]);
});

testWith("ps", "runProcess() makes a session and a group of its own", async () => {
  const { outcome, pid } = await run("ps -o pid=,pgid=,sid=,tty= -p $$");
  assert.deepEqual(outcome.stdout.trim().split(/\s+/), [`${pid}`, `${pid}`, `${pid}`, "?"]);
});

Deno.test("runProcess() tells codes from signals", async () => {
  assert.deepEqual((await run("exit 3")).outcome.exit, { type: "code", code: 3 });
  assert.deepEqual((await run("kill -SEGV $$")).outcome.exit, {
    type: "signal",
    signal: "SIGSEGV",
  });
});

Deno.test("runProcess() returns although a background child holds the output, and says so", async () => {
  const { outcome, groups, pid } = await run("sleep 60 & echo done");
  assert.equal(outcome.stdout, "done\n");
  assert.equal(outcome.ended, "by_itself");
  assert.match(outcome.leftRunning ?? "", /still running in group/);
  assert.ok(outcome.durationMs < 3000, `${outcome.durationMs} ms`);
  assert.equal(await groups.end(pid, 300), true);
});

Deno.test("runProcess() ends the whole group when the time is up", async () => {
  const { outcome, groups } = await run("sleep 60 & sleep 60 & echo started; wait", {
    timeoutMs: 300,
  });
  assert.equal(outcome.ended, "timed_out");
  assert.equal(outcome.stdout, "started\n");
  assert.equal(outcome.leftRunning, null);
  assert.equal(groups.size, 0);
});

Deno.test("runProcess() kills a group that ignores being asked", async () => {
  const { outcome } = await run("trap '' TERM; echo on; while :; do sleep 1; done", {
    timeoutMs: 300,
  });
  assert.equal(outcome.ended, "timed_out");
  assert.deepEqual(outcome.exit, { type: "signal", signal: "SIGKILL" });
});

testWith("setsid", "runProcess() names a survivor that left its group", async () => {
  const marker = `${90_000 + Math.floor(Deno.pid % 9999)}`;
  const { outcome } = await run(`setsid sleep ${marker} & sleep 0.2; echo $!; sleep 60`, {
    timeoutMs: 600,
  });
  assert.match(outcome.leftRunning ?? "", /left its group/);
  const survivor = Number(outcome.stdout.trim());
  Deno.kill(survivor, "SIGKILL");
});

Deno.test("runProcess() ends the group on abort", async () => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 200);
  const { outcome } = await run("echo begun; sleep 60", {}, abort.signal);
  assert.equal(outcome.ended, "aborted");
  assert.equal(outcome.stdout, "begun\n");
});

Deno.test("runProcess() drains 50 MB and keeps head and tail within the cap", async () => {
  const before = Deno.memoryUsage().rss;
  const { outcome } = await run("echo first; yes | head -c 50000000; echo last", {
    captureBytes: 20_000,
  });
  assert.match(outcome.stdout, /^first\n/);
  assert.match(outcome.stdout, /last\n$/);
  assert.ok(outcome.stdout.length <= 10_100);
  assert.ok(outcome.droppedBytes > 49_000_000);
  assert.ok(Deno.memoryUsage().rss - before < 150_000_000, "memory grew with the output");
});

Deno.test("runProcess() decodes characters cut between reads and replaces invalid bytes", async () => {
  const { outcome, live } = await run(
    "printf '\\303'; sleep 0.1; printf '\\244 \\377 '; printf '\\342\\202'; sleep 0.1; printf '\\254'",
  );
  assert.equal(outcome.stdout, "ä \ufffd €");
  assert.equal(live, "ä \ufffd €");
});

Deno.test("runProcess() keeps both streams apart", async () => {
  const { outcome } = await run("echo out; echo err >&2");
  assert.deepEqual([outcome.stdout, outcome.stderr], ["out\n", "err\n"]);
});

Deno.test("runProcess() says what could not be started", async () => {
  const options = {
    groups: new OwnedGroups(systemTimers),
    timers: systemTimers,
    clock: systemClock,
    signal: new AbortController().signal,
    onStarted: () => {},
    onOutput: () => {},
  };
  const missing = await runProcess({ ...BASE, executable: "/nowhere/x" }, options);
  assert.ok(!missing.ok && missing.error.reason === "executable_not_found");
  const directory = await runProcess({ ...BASE, executable: "/tmp" }, options);
  assert.ok(!directory.ok && directory.error.reason === "not_executable");
  const nul = await runProcess({ ...BASE, args: ["a\0b"] }, options);
  assert.ok(!nul.ok && nul.error.reason === "invalid_environment", JSON.stringify(nul));
});

Deno.test("OwnedGroups.endAll() ends every group", async () => {
  const groups = new OwnedGroups(systemTimers);
  const options = {
    groups,
    timers: systemTimers,
    clock: systemClock,
    signal: new AbortController().signal,
    onStarted: () => {},
    onOutput: () => {},
  };
  await Promise.all(
    [1, 2, 3].map(() => runProcess({ ...BASE, args: ["-c", "sleep 60 &"] }, options)),
  );
  assert.equal(groups.size, 3);
  assert.equal(await groups.endAll(300), 0);
  assert.equal(groups.size, 0);
});
