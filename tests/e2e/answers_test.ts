import assert from "node:assert/strict";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { calls, says } from "../support/simulated.ts";
import { TestFluzo } from "../support/fluzo.ts";

/** A workspace whose task is blocked on a command, and its ids. */
async function blocked(fluzo: TestFluzo, baseUrl: string) {
  fluzo.repository.commit({ "a.txt": "1\n" });
  await fluzo.setUp(baseUrl);
  const run = await fluzo.run("run", "make it", "--output", "json");
  assert.equal(run.code, 10, run.stderr);
  const { task_id: taskId, denials } = JSON.parse(run.stdout);
  const operationId: string = denials[0].operationId;
  assert.match(run.stderr, new RegExp(`fluzo task approve ${operationId}`));
  return { taskId: taskId as string, operationId };
}

const MAKE = calls("run", { command: ["touch", "made file"] });

Deno.test("a blocked command is approved, the task resumed, and it is done once", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator([MAKE, says("Made.")]);
  const { taskId, operationId } = await blocked(fluzo, simulator.baseUrl);
  const approved = await fluzo.must("task", "approve", operationId);
  assert.match(approved.stdout, /touch 'made file'/);
  assert.match(approved.stdout, /not sandboxed/);
  assert.equal(fluzo.repository.exists("made file"), false);
  assert.equal((await fluzo.run("task", "approve", operationId)).code, 40);
  const listed = await fluzo.must("grants", "list", "--task", taskId);
  assert.match(listed.stdout, /active {2}once, as an answer/);
  assert.match(listed.stdout, /touch 'made file'/);
  const resumed = await fluzo.must("session", "resume", taskId);
  assert.match(resumed.stdout, /Made\./);
  assert.ok(fluzo.repository.exists("made file"));
  assert.match((await fluzo.must("grants", "list")).stdout, new RegExp(`consumed by op_`));
  assert.equal((await fluzo.run("session", "resume", taskId)).code, 41);
  simulator.verify();
});

Deno.test("a blocked command is denied by its task's id, with a reason the model reads", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator([MAKE, says("Then not.")]);
  const { taskId, operationId } = await blocked(fluzo, simulator.baseUrl);
  await fluzo.must("task", "deny", taskId, "--reason", "not in this folder");
  assert.equal((await fluzo.run("task", "approve", operationId)).code, 40);
  const resumed = await fluzo.run("session", "resume", taskId);
  assert.equal(resumed.code, 11, "what the user denied counts for the task as a whole");
  assert.match(
    resumed.stdout,
    /Denied:\n {2}run: touch 'made file': the user said: not in this folder/,
  );
  const last = JSON.stringify(simulator.requests.at(-1)?.body);
  assert.match(last, /not in this folder/);
  assert.equal(fluzo.repository.exists("made file"), false);
  simulator.verify();
});

Deno.test("a revoked answer allows nothing, and the task asks again", async () => {
  using fluzo = new TestFluzo();
  await using simulator = startSimulator([MAKE]);
  const { taskId, operationId } = await blocked(fluzo, simulator.baseUrl);
  const { stdout } = await fluzo.must("task", "approve", operationId, "--output", "json");
  await fluzo.must("grants", "revoke", JSON.parse(stdout).grant_id);
  const resumed = await fluzo.run("session", "resume", taskId);
  assert.equal(resumed.code, 10, resumed.stderr);
  assert.equal(fluzo.repository.exists("made file"), false);
  simulator.verify();
});

Deno.test("a task that ran out of turns is extended and goes on with its session's id", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([calls("read", { path: "a.txt" }), says("It is 1.")]);
  await fluzo.setUp(simulator.baseUrl, { config: "[harness]\nmax_turns = 1\n" });
  const run = await fluzo.run("run", "read it", "--output", "json");
  assert.equal(run.code, 12, run.stderr);
  const { task_id: taskId, session_id: sessionId } = JSON.parse(run.stdout);
  assert.equal((await fluzo.run("task", "extend", taskId)).code, 2);
  assert.equal((await fluzo.run("task", "extend", taskId, "--turns", "0")).code, 2);
  assert.match((await fluzo.must("task", "extend", taskId, "--turns", "2")).stdout, /3 turns/);
  const resumed = await fluzo.must("session", "resume", sessionId);
  assert.match(resumed.stdout, /It is 1\./);
  assert.match((await fluzo.must("task", "show", taskId)).stdout, /2\/3 turns/);
  simulator.verify();
});

Deno.test("ids that name nothing are told from those that are no ids", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([]);
  await fluzo.setUp(simulator.baseUrl);
  const id = "0".repeat(26);
  for (
    const [code, ...args] of [
      [2, "task", "approve", "nonsense"],
      [36, "task", "approve", `op_${id}`],
      [2, "task", "deny", `task_${id}`],
      [36, "task", "extend", `task_${id}`, "--turns", "1"],
      [36, "task", "cancel", `task_${id}`],
      [36, "task", "cancel", "nonsense"],
      [36, "task", "kill", `task_${id}`],
      [36, "task", "kill", `task_${id}`, "--yes"],
      [41, "task", "say", `task_${id}`, "hello"],
      [36, "grants", "revoke", `gr_${id}`],
      [36, "session", "resume", `ses_${id}`],
      [36, "session", "resume", `task_${id}`],
    ] as const
  ) {
    const run = await fluzo.run(...args);
    assert.equal(run.code, code, `${args.join(" ")}: ${run.stderr}`);
    assert.doesNotMatch(run.stderr, /\n\s+at /);
  }
});
