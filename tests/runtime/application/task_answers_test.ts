import assert from "node:assert/strict";
import { randomIds, systemClock, type TaskId } from "../../../mod.ts";
import type { OperationDetail } from "../../../src/core/port/read_models.ts";
import { approvalKey } from "../../../src/core/policy/scope.ts";
import { call, startTask, TestHost } from "../../support/test_host.ts";
import type { ScriptedTurn } from "../../support/scripted_adapter.ts";

const ids = randomIds(systemClock);
const TOUCH = call("shell", { script: "touch made" });

/** Starts a task that waits, and returns what it waits for. */
async function waiting(
  test: TestHost,
): Promise<{ readonly taskId: TaskId; readonly operation: OperationDetail }> {
  const started = await test.host.port.execute(startTask({ onAsk: "wait" }));
  assert.ok(started.ok, JSON.stringify(started));
  const { taskId } = started.value;
  return { taskId, operation: await nextQuestion(test, taskId) };
}

/** The operation that waits now, other than the one that was answered before. */
async function nextQuestion(
  test: TestHost,
  taskId: TaskId,
  before: OperationDetail | null = null,
): Promise<OperationDetail> {
  const look = async () => {
    const found = await test.host.port.query({ type: "list_approvals", taskId });
    assert.ok(found.ok);
    return found.value.find(({ id }) => id !== before?.id);
  };
  const updates = test.host.port.subscribe(taskId);
  let found = await look();
  if (found === undefined) {
    for await (const _ of updates) {
      found = await look();
      if (found !== undefined) break;
    }
  }
  updates.close();
  assert.ok(found !== undefined, "nothing waits");
  return found;
}

function approve(test: TestHost, operation: OperationDetail, seen = approvalKey(operation.scope)) {
  return test.host.port.execute({
    type: "approve_operation",
    commandId: ids.next("command"),
    operationId: operation.id,
    seen,
  });
}

function deny(test: TestHost, operation: OperationDetail, reason: string) {
  return test.host.port.execute({
    type: "deny_operation",
    commandId: ids.next("command"),
    operationId: operation.id,
    seen: approvalKey(operation.scope),
    reason,
  });
}

async function states(test: TestHost, taskId: TaskId): Promise<readonly string[]> {
  const page = await test.host.port.query({
    type: "list_operations",
    taskId,
    after: null,
    limit: 50,
  });
  assert.ok(page.ok);
  return page.value.items.map(({ state }) => state);
}

async function grants(test: TestHost, taskId: TaskId) {
  const page = await test.host.port.query({
    type: "list_grants",
    taskId,
    cursor: null,
    limit: 50,
  });
  assert.ok(page.ok);
  return page.value.items;
}

Deno.test("an approval allows one operation once and is used up with its intent", async () => {
  await using test = await TestHost.open([TOUCH, TOUCH, { text: "done" }]);
  const { taskId, operation } = await waiting(test);
  assert.equal((await test.task(taskId)).state, "waiting");
  assert.equal(test.folder.exists("made"), false);
  assert.ok((await approve(test, operation)).ok);
  const second = await nextQuestion(test, taskId, operation);
  assert.ok(test.folder.exists("made"));
  assert.notEqual(second.id, operation.id, "the same command asks again");
  const [grant] = await grants(test, taskId);
  assert.deepEqual(
    [grant?.state, grant?.source, grant?.lifetime, grant?.usedBy],
    ["consumed", "approval", "once", operation.id],
  );
  assert.ok((await deny(test, second, "once is enough")).ok);
  await test.until(taskId, "task_ended");
  assert.deepEqual(await states(test, taskId), ["known_result", "denied"]);
  assert.match(test.adapter.requests[2]?.messages.at(-1)?.text ?? "", /once is enough/);
});

Deno.test("each question is answered once, and only as it was shown", async () => {
  await using test = await TestHost.open([TOUCH, { text: "done" }]);
  const { taskId, operation } = await waiting(test);
  const other = await approve(test, operation, "something else");
  assert.ok(!other.ok && other.error.type === "stale_answer");
  const answers = await Promise.all([
    approve(test, operation),
    approve(test, operation),
    deny(test, operation, "no"),
  ]);
  assert.equal(answers.filter((answer) => answer.ok).length, 1);
  await test.until(taskId, "task_ended");
  const late = await approve(test, operation);
  assert.ok(!late.ok && late.error.type === "stale_answer");
  assert.equal((await grants(test, taskId)).length, 1);
});

Deno.test("a wait for the user is not active time, and cancelling ends it", async () => {
  await using test = await TestHost.open([TOUCH]);
  const { taskId } = await waiting(test);
  const commandId = ids.next("command");
  await test.host.port.execute({ type: "cancel_task", commandId, taskId, by: "user" });
  await test.until(taskId, "task_ended");
  const task = await test.task(taskId);
  assert.equal(task.state, "cancelled");
  assert.deepEqual(await states(test, taskId), ["cancelled"]);
  assert.equal(test.folder.exists("made"), false);
});

Deno.test("a program swapped between approval and start is not run", async () => {
  await using test = await TestHost.open([call("run", { command: ["./tool.sh"] }), {
    text: "done",
  }], {
    prepare: (folder) => {
      folder.write("tool.sh", "#!/bin/sh\ntouch good\n");
      folder.write("evil.sh", "#!/bin/sh\ntouch evil\n");
      Deno.chmodSync(`${folder.path}/tool.sh`, 0o755);
      Deno.chmodSync(`${folder.path}/evil.sh`, 0o755);
    },
  });
  const { taskId, operation } = await waiting(test);
  Deno.renameSync(`${test.folder.path}/evil.sh`, `${test.folder.path}/tool.sh`);
  assert.ok((await approve(test, operation)).ok);
  await test.until(taskId, "task_ended");
  assert.equal(test.folder.exists("evil"), false);
  assert.equal(test.folder.exists("good"), false);
  assert.deepEqual(await states(test, taskId), ["invalidated"]);
  assert.equal((await grants(test, taskId))[0]?.state, "expired");
});

Deno.test("a file changed while its edit waits is not written over", async () => {
  await using test = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "mine", new_text: "theirs" }),
    { text: "done" },
  ], { prepare: (folder) => folder.write("a.txt", "mine\n") });
  const { taskId, operation } = await waiting(test);
  assert.equal(operation.tool, "edit");
  test.folder.write("a.txt", "mine\nand more\n");
  assert.ok((await approve(test, operation)).ok);
  await test.until(taskId, "task_ended");
  assert.equal(test.folder.read("a.txt"), "mine\nand more\n");
  assert.deepEqual(await states(test, taskId), ["known_result", "invalidated"]);
  assert.match(test.adapter.requests[2]?.messages.at(-1)?.text ?? "", /changed|read it again/i);
});

Deno.test("an approved edit of a user's change is done, and the next one asks again", async () => {
  await using test = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "mine", new_text: "ours" }),
    call("edit", { path: "a.txt", old_text: "ours", new_text: "ours too" }),
    { text: "done" },
  ], { prepare: (folder) => folder.write("a.txt", "mine\n") });
  const { taskId, operation } = await waiting(test);
  assert.ok((await approve(test, operation)).ok);
  const second = await nextQuestion(test, taskId, operation);
  assert.equal(test.folder.read("a.txt"), "ours\n");
  assert.ok((await approve(test, second)).ok);
  await test.until(taskId, "task_ended");
  assert.equal(test.folder.read("a.txt"), "ours too\n");
});

Deno.test("a task's permission for a file holds for Fluzo's own versions of it only", async () => {
  await using test = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "mine", new_text: "ours" }),
    call("edit", { path: "a.txt", old_text: "ours", new_text: "again" }),
    call("shell", { script: "echo other > a.txt" }),
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "other", new_text: "lost" }),
    { text: "done" },
  ], { prepare: (folder) => folder.write("a.txt", "mine\n") });
  const { task } = await test.run({
    onAsk: "deny",
    grants: [{ type: "touch", path: "a.txt" }, { type: "shell", script: "echo other > a.txt" }],
  });
  assert.equal(test.folder.read("a.txt"), "other\n");
  assert.equal(task.result?.denials.length, 1);
});

Deno.test("a revoked grant allows nothing any more", async () => {
  const turns: readonly ScriptedTurn[] = [
    call("run", { command: ["true"] }),
    TOUCH,
    call("run", { command: ["true"] }),
    { text: "done" },
  ];
  await using test = await TestHost.open(turns);
  const started = await test.host.port.execute(startTask({
    onAsk: "wait",
    grants: [{ type: "exec", argv: ["true"], cwd: "." }],
  }));
  assert.ok(started.ok);
  const { taskId } = started.value;
  const question = await nextQuestion(test, taskId);
  const [grant] = await grants(test, taskId);
  assert.ok(grant !== undefined);
  const revoke = () =>
    test.host.port.execute({
      type: "revoke_grant",
      commandId: ids.next("command"),
      grantId: grant.id,
    });
  assert.ok((await revoke()).ok);
  const again = await revoke();
  assert.ok(!again.ok && again.error.type === "wrong_state");
  await deny(test, question, "");
  const asked = await nextQuestion(test, taskId, question);
  assert.deepEqual(asked.scope.type === "command" ? asked.scope.argv : [], ["true"]);
  await deny(test, asked, "");
  await test.until(taskId, "task_ended");
});

Deno.test("a command listed in the consented configuration runs without asking, exactly", async () => {
  const config = '[policy]\nallow_exec = ["touch listed"]\n';
  await using test = await TestHost.open([
    call("run", { command: ["touch", "listed"] }),
    call("run", { command: ["touch", "listed", "more"] }),
    { text: "done" },
  ], { config });
  const { task, taskId } = await test.run({ onAsk: "deny" });
  assert.ok(test.folder.exists("listed"));
  assert.equal(test.folder.exists("more"), false);
  assert.equal(task.result?.denials.length, 1);
  assert.deepEqual((await grants(test, taskId)).map(({ source }) => source), ["configured"]);
});

Deno.test("the rules of now decide: YOLO given while a task runs, and taken back", async () => {
  await using test = await TestHost.open([TOUCH, TOUCH, TOUCH, { text: "done" }]);
  const { taskId, operation } = await waiting(test);
  const yolo = (on: boolean) =>
    test.host.port.execute({ type: "set_yolo", commandId: ids.next("command"), taskId, on });
  assert.ok((await yolo(true)).ok);
  assert.equal((await test.task(taskId)).yolo, true);
  await deny(test, operation, "");
  await test.until(taskId, "task_ended");
  assert.deepEqual(await states(test, taskId), ["denied", "known_result", "known_result"]);
  const after = await yolo(false);
  assert.ok(!after.ok && after.error.type === "wrong_state");
});
