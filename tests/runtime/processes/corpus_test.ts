import assert from "node:assert/strict";
import type { OperationId } from "../../../src/core/ids.ts";
import type { ProcessIdentity } from "../../../src/core/left_processes.ts";
import { err, type Result } from "../../../src/core/result.ts";
import type { ProcessError } from "../../../src/core/errors.ts";
import { processIds, readProcess } from "../../../src/runtime/linux/process_table.ts";
import { commandRunner } from "../../../src/runtime/processes/command_runner.ts";
import type { OwnedProcesses } from "../../../src/runtime/processes/owned_processes.ts";
import type { ProcessOutcome } from "../../../src/runtime/processes/run_process.ts";
import { systemClock, systemTimers } from "../../../src/runtime/system_clock.ts";
import {
  END,
  markedProcesses,
  newOperation,
  ownedProcesses,
  quietControls,
} from "../../support/processes.ts";
import { TestFolder } from "../../support/repository.ts";
import { testWith } from "../../support/tools.ts";
import { CORPUS, type CorpusCase } from "./_corpus.ts";
import { reportLine } from "../../support/report_line.ts";

const GRACE_MS = 300;
const CAPTURE_BYTES = 65_536;

/** Files that cases run. */
function prepare(folder: TestFolder): void {
  const files: readonly (readonly [name: string, mode: number, content: string])[] = [
    ["plain", 0o644, "#!/bin/sh\n"],
    ["no_interpreter", 0o755, "#!/nowhere/sh\necho ran\n"],
    ["nameless", 0o755, "echo ran by a shell that nobody asked for\n"],
    [
      "chain",
      0o755,
      '#!/bin/sh\n[ "$1" -gt 0 ] || exec sleep 60\n"$0" $(($1 - 1)) &\nexit 0\n',
    ],
    [
      "session_chain",
      0o755,
      '#!/bin/sh\n[ "$1" -gt 0 ] || exec sleep 60\nsetsid "$0" $(($1 - 1)) &\nexit 0\n',
    ],
  ];
  for (const [name, mode, content] of files) {
    folder.write(name, content);
    Deno.chmodSync(`${folder.path}/${name}`, mode);
  }
  Deno.mkdirSync(`${folder.path}/folder`);
}

interface Ran {
  /** The leader of the command's session; null when it was not started. */
  readonly pid: number | null;
  readonly result: Result<ProcessOutcome, ProcessError>;
  readonly durationMs: number;
}

async function run(
  entry: CorpusCase,
  { folder, processes, operationId }: {
    readonly folder: TestFolder;
    readonly processes: OwnedProcesses;
    readonly operationId: OperationId;
  },
): Promise<Ran> {
  const runner = commandRunner({
    root: Deno.realPathSync(folder.path),
    processes,
    clock: systemClock,
    timers: systemTimers,
    graceMs: GRACE_MS,
    environment: {
      variable: (name) => name === "PATH" ? "/usr/bin:/bin" : null,
      inherit: [],
      set: {},
      secretNames: new Set(),
    },
  });
  const argv = typeof entry.command === "string" ? ["sh", "-c", entry.command] : entry.command;
  let pid: number | null = null;
  const onStarted = (process: ProcessIdentity): void => {
    pid = process.pid;
  };
  const startMs = performance.now();
  const resolved = await runner.resolve(argv[0] ?? "", ".");
  const result = resolved.ok
    ? await runner.run({
      operationId,
      argv,
      cwd: ".",
      env: [],
      binding: resolved.value.binding,
      timeoutMs: entry.timeoutMs ?? 5000,
      captureBytes: CAPTURE_BYTES,
    }, { ...quietControls(processes), onStarted })
    : err(resolved.error);
  return { pid, result, durationMs: performance.now() - startMs };
}

function check(entry: CorpusCase, { result, durationMs }: Ran): void {
  const deadlineMs = entry.deadlineMs ?? 3000;
  assert.ok(durationMs < deadlineMs, `took ${Math.round(durationMs)} of ${deadlineMs} ms`);
  if (entry.refused !== undefined) {
    assert.ok(!result.ok, "it was started");
    assert.equal(result.error.reason, entry.refused);
    return;
  }
  assert.ok(result.ok, JSON.stringify(result));
  const { exit, ended, stdout, stderr, left, droppedBytes, outputHeld } = result.value;
  assert.equal(ended, entry.ended);
  if (entry.exit !== undefined) assert.deepEqual(exit, entry.exit);
  if (typeof entry.stdout === "string") assert.equal(stdout, entry.stdout);
  else if (entry.stdout !== undefined) assert.match(stdout, entry.stdout);
  if (entry.stderr !== undefined) assert.match(stderr, entry.stderr);
  assert.equal(droppedBytes, entry.droppedBytes ?? 0);
  assert.equal(outputHeld, entry.outputHeld ?? false);
  assert.equal(left.more, 0);
  if (entry.left === null) assert.ok(left.processes.length > 0, "nothing was named");
  else {
    assert.deepEqual(
      left.processes.map(({ command }) => command).sort(),
      [...entry.left ?? []].sort(),
    );
  }
}

/** Children of this process that ended and were never reaped, of one session. */
function leftEntries(session: number): readonly number[] {
  return processIds().filter((pid) => {
    const row = readProcess(pid);
    return row?.parent === Deno.pid && row.state === "ended" && row.session === session;
  });
}

for (const entry of CORPUS) {
  testWith("setsid", `process corpus: ${entry.name}`, async () => {
    using folder = new TestFolder();
    prepare(folder);
    const processes = ownedProcesses();
    const operationId = newOperation();
    let session: number | null = null;
    try {
      const ran = await run(entry, { folder, processes, operationId });
      session = ran.pid;
      const named = ran.result.ok ? ran.result.value.left.processes.map(({ pid }) => pid) : [];
      // The kernel's own account, by a look that shares nothing with the one under test but /proc.
      if (entry.left !== null) {
        assert.deepEqual(markedProcesses(operationId).toSorted(), named.toSorted());
      }
      check(entry, ran);
    } finally {
      const ended = await processes.endAll(END);
      assert.deepEqual(ended.flatMap(({ left }) => left.processes), []);
      assert.deepEqual(markedProcesses(operationId), [], "not ended");
      assert.equal(processes.size, 0);
    }
    assert.deepEqual(session === null ? [] : leftEntries(session), []);
  });
}

Deno.test("the process corpus is whole", () => {
  reportLine(`process corpus: ${CORPUS.length} cases`);
  assert.ok(CORPUS.length >= 40);
  assert.equal(new Set(CORPUS.map(({ name }) => name)).size, CORPUS.length);
});
