import assert from "node:assert/strict";
import { NONE_LEFT } from "../../../src/core/left_processes.ts";
import type { OwnedProcesses } from "../../../src/runtime/processes/owned_processes.ts";
import {
  type ProcessControls,
  type ProcessOutcome,
  type ProcessRequest,
  runProcess,
} from "../../../src/runtime/processes/run_process.ts";
import { testWith } from "../../support/tools.ts";
import { END, newOperation, ownedProcesses, quietControls } from "../../support/processes.ts";

const BASE: Omit<ProcessRequest, "operationId"> = {
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
  readonly processes: OwnedProcesses;
  readonly pid: number;
  readonly live: string;
}

async function run(
  script: string,
  changes: Partial<ProcessRequest> = {},
  controls: Partial<ProcessControls> = {},
): Promise<Run> {
  const processes = ownedProcesses();
  let pid = 0;
  let live = "";
  const operationId = newOperation();
  const result = await runProcess(
    { ...BASE, operationId, args: ["-c", script], ...changes },
    {
      ...quietControls(processes),
      onStarted: (started) => {
        pid = started.pid;
      },
      onOutput: (text) => {
        live += text;
      },
      ...controls,
    },
  );
  if (!result.ok) throw new Error(`not started: ${result.error.reason} ${result.error.detail}`);
  return { outcome: result.value, processes, pid, live };
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
  const operationId = newOperation();
  const { outcome } = await run("", {
    executable: "/usr/bin/env",
    args: [],
    env: { A: "1", B: "x=y", FLUZO_OPERATION: "somebody else's" },
    operationId,
  });
  assert.deepEqual(outcome.stdout.trim().split("\n").sort(), [
    "A=1",
    "B=x=y",
    `FLUZO_OPERATION=${operationId}`,
  ]);
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
  const { outcome, processes } = await run("sleep 60 & echo done");
  assert.equal(outcome.stdout, "done\n");
  assert.equal(outcome.ended, "by_itself");
  assert.deepEqual(outcome.left.processes.map(({ command }) => command), ["sleep 60"]);
  assert.ok(outcome.durationMs < 3000, `${outcome.durationMs} ms`);
  assert.deepEqual((await processes.endAll(END)).map(({ left }) => left), [NONE_LEFT]);
  assert.equal(processes.size, 0);
});

Deno.test("runProcess() ends the whole group when the time is up", async () => {
  const { outcome, processes } = await run("sleep 60 & sleep 60 & echo started; wait", {
    timeoutMs: 300,
  });
  assert.equal(outcome.ended, "timed_out");
  assert.equal(outcome.stdout, "started\n");
  assert.deepEqual(outcome.left, NONE_LEFT);
  assert.equal(processes.size, 0);
});

Deno.test("runProcess() kills a group that ignores being asked", async () => {
  const { outcome } = await run("trap '' TERM; echo on; while :; do sleep 1; done", {
    timeoutMs: 300,
  });
  assert.equal(outcome.ended, "timed_out");
  assert.deepEqual(outcome.exit, { type: "signal", signal: "SIGKILL" });
});

testWith("setsid", "runProcess() ends what left its group", async () => {
  const { outcome, processes } = await run(
    "setsid sh -c 'setsid sleep 60 & exec sleep 60' & sleep 0.2; echo on; sleep 60",
    { timeoutMs: 600 },
  );
  assert.equal(outcome.ended, "timed_out");
  assert.deepEqual([outcome.left, outcome.outputHeld], [NONE_LEFT, false]);
  assert.equal(processes.size, 0);
});

Deno.test("runProcess() kills at once when it is forced, also during the grace", async () => {
  const [abort, force] = [new AbortController(), new AbortController()];
  let output = "";
  const { outcome } = await run(
    "trap 'echo asked' TERM; echo on; while :; do sleep 0.1; done",
    { graceMs: 60_000, timeoutMs: 60_000 },
    {
      signal: abort.signal,
      force: force.signal,
      onOutput: (text) => {
        output += text;
        if (output.includes("asked")) force.abort();
        else if (output.includes("on")) abort.abort();
      },
    },
  );
  assert.deepEqual(outcome.exit, { type: "signal", signal: "SIGKILL" });
  assert.equal(outcome.ended, "aborted");
  assert.match(outcome.stdout, /asked/);
  assert.deepEqual(outcome.left, NONE_LEFT);
  assert.ok(outcome.durationMs < 10_000, `${outcome.durationMs} ms`);
});

Deno.test("runProcess() ends the group on abort", async () => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 200);
  const { outcome } = await run("echo begun; sleep 60", {}, { signal: abort.signal });
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
  const controls = quietControls(ownedProcesses());
  const base = { ...BASE, operationId: newOperation() };
  const missing = await runProcess({ ...base, executable: "/nowhere/x" }, controls);
  assert.ok(!missing.ok && missing.error.reason === "executable_not_found");
  const directory = await runProcess({ ...base, executable: "/tmp" }, controls);
  assert.ok(!directory.ok && directory.error.reason === "not_executable");
  const nul = await runProcess({ ...base, args: ["a\0b"] }, controls);
  assert.ok(!nul.ok && nul.error.reason === "invalid_environment", JSON.stringify(nul));
  assert.equal(controls.processes.size, 0);
});

Deno.test("OwnedProcesses.endAll() ends every command", async () => {
  const processes = ownedProcesses();
  const scripts = ["sleep 60 &", "setsid sleep 60 &", "(sleep 60 & exec sleep 60) &"];
  const ran = await Promise.all(
    scripts.map((script) =>
      runProcess(
        { ...BASE, operationId: newOperation(), args: ["-c", script] },
        quietControls(processes),
      )
    ),
  );
  assert.ok(ran.every((result) => result.ok && result.value.left.processes.length > 0));
  assert.equal(processes.size, 3);
  const ended = await processes.endAll(END);
  assert.deepEqual(ended.map(({ left }) => left), [NONE_LEFT, NONE_LEFT, NONE_LEFT]);
  assert.equal(processes.size, 0);
});

Deno.test("runProcess() starts nothing once it is cancelled", async () => {
  await assert.rejects(
    run("touch started", {}, { signal: AbortSignal.abort() }),
    /not started: cancelled/,
  );
});
