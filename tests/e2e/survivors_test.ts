import assert from "node:assert/strict";
import { permissionFlags } from "../../src/cli/permissions.ts";
import type { OperationId, TaskId } from "../../src/core/ids.ts";
import type { LeftProcess } from "../../src/core/left_processes.ts";
import { openProcess, signalProcess } from "../../src/runtime/linux/pidfd.ts";
import { bootId, processStartTicks } from "../../src/runtime/linux/process_identity.ts";
import { openStore } from "../../src/runtime/storage/client.ts";
import { markedProcesses } from "../support/processes.ts";
import type { KillPoint } from "../support/crash.ts";
import { TestHost } from "../support/test_host.ts";
import { TestFolder } from "../support/repository.ts";
import { testWith } from "../support/tools.ts";

/** Starts a Deno program with the permissions of the product, in the folder. */
async function deno(folder: TestFolder, module: string, ...args: readonly string[]) {
  const { code, signal, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      ...permissionFlags(),
      new URL(module, import.meta.url).pathname,
      ...args,
    ],
    cwd: folder.path,
    stdin: "null",
  }).output();
  const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, signal, stdout: text ?? "", stderr: errors ?? "" };
}

/** Runs a command in a Fluzo that kills itself there. */
async function crash(
  folder: TestFolder,
  { type, side, script }: Pick<Extract<KillPoint, { at: "event" }>, "type" | "side"> & {
    readonly script: string;
  },
): Promise<void> {
  TestHost.prepare(folder, { files: { "a.txt": "one\n" } });
  const point: KillPoint = { at: "event", type, index: 0, side };
  const main = "../support/crash_main.ts";
  const { signal, stderr } = await deno(folder, main, folder.path, JSON.stringify(point), script);
  assert.equal(signal, "SIGKILL", stderr);
}

interface Found {
  readonly taskId: TaskId;
  readonly operationId: OperationId;
  readonly state: string;
  readonly left: readonly LeftProcess[];
}

/** What the journal says of the command, read without owning anything. */
async function journal(folder: TestFolder): Promise<Found> {
  const directory = `${folder.path}/.fluzodrive`;
  const opened = await openStore({ directory, mode: "read", ownerAlive: () => false }).opened;
  assert.ok(opened.ok, JSON.stringify(opened));
  await using store = { ...opened, [Symbol.asyncDispose]: () => opened.value.close() };
  const tasks = await store.value.tasks(null, 1);
  const taskId = tasks.ok ? tasks.value.items[0]?.id : undefined;
  assert.ok(taskId !== undefined);
  const operations = await store.value.operations(taskId, { after: null, limit: 9 });
  assert.ok(operations.ok);
  const operation = operations.value.items.find(({ tool }) => tool === "shell");
  assert.ok(operation !== undefined);
  const { id, state, derived, left } = operation;
  return { taskId, operationId: id, state: derived ?? state, left: left.processes };
}

/** Waits until as many processes carry the operation. */
async function running(operationId: OperationId, count: number): Promise<readonly number[]> {
  for (let tries = 0; tries < 200; tries++) {
    const found = markedProcesses(operationId);
    if (found.length === count) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${markedProcesses(operationId).length} processes, not ${count}`);
}

/** Ends processes that are exactly those named: by handle, after a look at start and boot. */
function endNamed(named: readonly LeftProcess[]): void {
  for (const { pid, startTicks, bootId: boot } of named) {
    using process = openProcess(pid);
    assert.ok(process !== null && boot === bootId() && processStartTicks(pid) === startTicks);
    assert.equal(signalProcess(process, "SIGKILL"), "sent");
  }
}

/** Ends what a failed test left, so that it leaves nothing. */
function endMarked(operationId: OperationId): void {
  for (const pid of markedProcesses(operationId)) Deno.kill(pid, "SIGKILL");
}

const TWO_SESSIONS = "setsid sleep 301 & sleep 302; true";

for (const side of ["before", "after"] as const) {
  testWith(
    "setsid",
    `SIGKILL ${side} a process is recorded: the next start names what survives, and signals nobody`,
    async () => {
      using folder = new TestFolder();
      await crash(folder, { type: "process_started", side, script: TWO_SESSIONS });
      const { taskId, operationId, state, left } = await journal(folder);
      try {
        assert.deepEqual([state, left], ["unknown", []]);
        const alive = await running(operationId, 3);

        // The next start: any command that takes the workspace over.
        const extended = await deno(
          folder,
          "../../src/cli/main.ts",
          "task",
          "extend",
          taskId,
          "--turns",
          "1",
        );
        assert.equal(extended.code, 0, extended.stderr);
        const named = (await journal(folder)).left;
        assert.deepEqual(named.map(({ pid }) => pid).toSorted(), alive.toSorted());
        assert.deepEqual(markedProcesses(operationId).toSorted(), alive.toSorted(), "signalled");
        const shown = await deno(folder, "../../src/cli/main.ts", "task", "show", taskId);
        assert.match(shown.stdout, /^Left: .*still running: process /m);
        for (const { pid, command } of named) {
          assert.ok(shown.stdout.includes(`process ${pid} (${command})`), shown.stdout);
        }

        // Once they are gone, the start after that says so.
        endNamed(named);
        await running(operationId, 0);
        await deno(folder, "../../src/cli/main.ts", "task", "extend", taskId, "--turns", "1");
        assert.deepEqual((await journal(folder)).left, []);
        const after = await deno(folder, "../../src/cli/main.ts", "task", "show", taskId);
        assert.doesNotMatch(after.stdout, /Left:/);
      } finally {
        endMarked(operationId);
      }
    },
  );
}

testWith("setsid", "SIGKILL after a command: what it left in the background is named", async () => {
  using folder = new TestFolder();
  await crash(folder, {
    type: "operation_finished",
    side: "after",
    script: "setsid sleep 303 >/dev/null 2>&1 & sleep 0.1",
  });
  const { taskId, operationId, state, left } = await journal(folder);
  try {
    assert.equal(state, "known_result");
    assert.deepEqual(left.map(({ command }) => command), ["sleep 303"]);
    await deno(folder, "../../src/cli/main.ts", "task", "extend", taskId, "--turns", "1");
    assert.deepEqual((await journal(folder)).left, left);
    endNamed(left);
  } finally {
    endMarked(operationId);
  }
});
