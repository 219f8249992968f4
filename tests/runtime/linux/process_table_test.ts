import assert from "node:assert/strict";
import {
  commandLine,
  openExactly,
  parseStat,
  processIds,
  readProcess,
  readVariable,
} from "../../../src/runtime/linux/process_table.ts";

/** A program shows its words a moment after it was started. */
async function begun(pid: number): Promise<void> {
  while (!commandLine({ pid, name: "" }).endsWith(" 60")) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const REST = "4194560 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";

Deno.test("parseStat() reads a line, whatever the name holds", () => {
  const row = { pid: 7, parent: 1, group: 5, session: 3, startTicks: "4711" };
  for (const name of ["sleep", "a b", "a) R 9 9 9", "(", ")", ""]) {
    assert.deepEqual(parseStat(`7 (${name}) S 1 5 3 0 -1 ${REST}`), {
      ...row,
      name,
      state: "running",
    });
  }
  assert.equal(parseStat(`7 (x) Z 1 5 3 0 -1 ${REST}`)?.state, "ended");
  assert.equal(parseStat(`7 (x) X 1 5 3 0 -1 ${REST}`)?.state, "ended");
  assert.equal(parseStat(`7 (x) T 1 5 3 0 -1 ${REST}`)?.state, "running");
  for (const text of ["", "7", "7 (x", "7 (x) S 1 5 3", ")("]) assert.equal(parseStat(text), null);
});

Deno.test("the process table has this process and its child, with words and environment", async () => {
  const own = readProcess(Deno.pid);
  const child = new Deno.Command("/bin/sleep", {
    args: ["60"],
    clearEnv: true,
    env: { MARK: "a=b", MARKER: "c" },
  }).spawn();
  try {
    await begun(child.pid);
    const row = readProcess(child.pid);
    assert.deepEqual(row, {
      pid: child.pid,
      parent: Deno.pid,
      group: own?.group,
      session: own?.session,
      state: "running",
      startTicks: row?.startTicks,
      name: "sleep",
    });
    assert.ok(Number(row?.startTicks) >= Number(own?.startTicks));
    assert.ok(processIds().includes(child.pid));
    assert.equal(commandLine({ pid: child.pid, name: "sleep" }), "/bin/sleep 60");
    assert.equal(readVariable(child.pid, "MARK"), "a=b");
    assert.equal(readVariable(child.pid, "MAR"), null);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
  assert.equal(readProcess(child.pid), null);
  assert.equal(readVariable(child.pid, "MARK"), null);
  assert.equal(commandLine({ pid: child.pid, name: "sleep" }), "sleep");
});

Deno.test("openExactly() takes no process that began at another time", async () => {
  const child = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
  const { pid } = child;
  try {
    const startTicks = readProcess(pid)?.startTicks ?? "";
    using exact = openExactly({ pid, startTicks });
    assert.ok(exact !== null);
    assert.equal(openExactly({ pid, startTicks: String(Number(startTicks) - 1) }), null);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
  assert.equal(openExactly({ pid, startTicks: "1" }), null);
});

Deno.test("readVariable() finds a variable behind more than a page of others", async () => {
  const child = new Deno.Command("/bin/sleep", {
    args: ["60"],
    clearEnv: true,
    env: { A: "x".repeat(100_000), Z: "last" },
  }).spawn();
  try {
    await begun(child.pid);
    assert.equal(readVariable(child.pid, "Z"), "last");
    assert.equal(readVariable(child.pid, "A")?.length, 100_000);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
});
