import assert from "node:assert/strict";
import { readOwnerRecord, writeOwnerRecord } from "../../../src/runtime/workspace/owner_record.ts";
import { isOwned, WorkspaceOwnership } from "../../../src/runtime/workspace/ownership.ts";
import { newId } from "../../support/ids.ts";
import { TestFolder } from "../../support/repository.ts";

const OWNERSHIP = new URL("../../../src/runtime/workspace/ownership.ts", import.meta.url).href;

async function take(folder: TestFolder, instanceId = newId("instance")) {
  return await WorkspaceOwnership.acquire(folder.path, {
    workspace: folder.path,
    wallMs: 1_000,
    instanceId,
  });
}

Deno.test("a second owner is refused and told who the first is and what it works on", async () => {
  using folder = new TestFolder();
  assert.equal(isOwned(folder.path), false);
  const instanceId = newId("instance");
  const first = await take(folder, instanceId);
  assert.ok(first.ok);
  const task = newId("task");
  first.value.describe(task);
  first.value.announce({ type: "listening", path: "/run/x.sock", protocol: 1 });
  assert.equal(isOwned(folder.path), true);
  const second = await take(folder);
  assert.deepEqual(!second.ok && second.error, {
    type: "owner_conflict",
    workspace: folder.path,
    owner: { pid: Deno.pid, since: "1970-01-01T00:00:01.000Z", task },
  });
  const record = readOwnerRecord(folder.path);
  assert.equal(record?.instanceId, instanceId);
  assert.deepEqual(record?.control, { type: "listening", path: "/run/x.sock", protocol: 1 });
  const mode = Deno.lstatSync(`${folder.path}/owner.json`).mode ?? 0;
  assert.equal(mode & 0o777, 0o600);
  first.value.release();
  assert.equal(isOwned(folder.path), false);
  assert.equal(readOwnerRecord(folder.path), null, "a clean end leaves no record");
  const third = await take(folder);
  assert.ok(third.ok);
  assert.equal(third.value.abandoned, null);
  third.value.release();
});

Deno.test("what a killed owner left is reported to the next one and believed by nobody", async () => {
  using folder = new TestFolder();
  const instanceId = newId("instance");
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { WorkspaceOwnership } from ${JSON.stringify(OWNERSHIP)};
       const owned = await WorkspaceOwnership.acquire(${JSON.stringify(folder.path)}, {
         workspace: "w", wallMs: 0, instanceId: ${JSON.stringify(instanceId)} });
       owned.value.announce({ type: "listening", path: "/run/y.sock", protocol: 1 });
       console.log("owned");
       setTimeout(() => {}, 60_000);`,
    ],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const said = child.stdout.getReader();
  await said.read();
  const refused = await take(folder);
  assert.ok(!refused.ok && refused.error.type === "owner_conflict");
  assert.equal(refused.error.owner?.pid, child.pid);
  child.kill("SIGKILL");
  await child.status;
  await said.cancel();
  assert.equal(isOwned(folder.path), false);
  const next = await take(folder);
  assert.ok(next.ok);
  assert.equal(next.value.abandoned?.instanceId, instanceId);
  assert.deepEqual(next.value.abandoned?.control, {
    type: "listening",
    path: "/run/y.sock",
    protocol: 1,
  });
  next.value.release();
});

Deno.test("a record that is not whole, not private or of another process names nobody", async () => {
  using folder = new TestFolder();
  const owned = await take(folder);
  assert.ok(owned.ok);
  owned.value.announce({ type: "unavailable", reason: "a test" });
  const good = readOwnerRecord(folder.path);
  assert.ok(good);
  const conflict = async () => {
    const refused = await take(folder);
    assert.ok(!refused.ok);
    return refused.error.type === "owner_conflict" ? refused.error.owner : assert.fail();
  };
  writeOwnerRecord(folder.path, { ...good, startTicks: `${Number(good.startTicks) + 1}` });
  assert.equal(await conflict(), null, "a later process with the same number");
  writeOwnerRecord(folder.path, { ...good, bootId: "another boot" });
  assert.equal(await conflict(), null);
  for (
    const text of [
      "",
      "{",
      "null",
      "[]",
      '{"pid":1}',
      JSON.stringify({ ...good, instanceId: "x" }),
      JSON.stringify({ ...good, pid: "1" }),
      JSON.stringify({ ...good, task: "x" }),
      JSON.stringify({ ...good, control: { type: "listening", path: "relative", protocol: 1 } }),
      JSON.stringify({ ...good, control: { type: "what" } }),
      " ".repeat(20_000),
    ]
  ) {
    Deno.writeTextFileSync(`${folder.path}/owner.json`, text, { mode: 0o600 });
    assert.equal(readOwnerRecord(folder.path), null, text.slice(0, 80));
  }
  writeOwnerRecord(folder.path, good);
  Deno.chmodSync(`${folder.path}/owner.json`, 0o644);
  assert.equal(readOwnerRecord(folder.path), null);
  Deno.removeSync(`${folder.path}/owner.json`);
  Deno.symlinkSync("elsewhere.json", `${folder.path}/owner.json`);
  assert.equal(readOwnerRecord(folder.path), null);
  owned.value.release();
});

Deno.test("an owner that only writes an answer is waited for", async () => {
  using folder = new TestFolder();
  const first = await take(folder);
  assert.ok(first.ok);
  const second = take(folder);
  // Longer than an owner at work is waited for.
  await new Promise((resolve) => setTimeout(resolve, 200));
  first.value.release();
  const owned = await second;
  assert.ok(owned.ok);
  owned.value.release();
});

Deno.test("readers that look whether there is an owner do not keep one from beginning", async () => {
  using folder = new TestFolder();
  const stop = new AbortController();
  const looking = (async () => {
    while (!stop.signal.aborted) {
      isOwned(folder.path);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  })();
  for (let round = 0; round < 20; round++) {
    const owned = await take(folder);
    assert.ok(owned.ok);
    owned.value.release();
  }
  stop.abort();
  await looking;
});
