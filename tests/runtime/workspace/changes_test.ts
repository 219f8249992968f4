import assert from "node:assert/strict";
import { TestWorkspace } from "../../support/workspace.ts";

const encoder = new TextEncoder();

Deno.test("edit keeps mode bits, and leaves no temporary", async () => {
  await using workspace = await TestWorkspace.open();
  for (const mode of [0o755, 0o600, 0o640, 0o644]) {
    workspace.folder.write("s.sh", "echo 1\n");
    Deno.chmodSync(`${workspace.folder.path}/s.sh`, mode);
    await workspace.edit("s.sh", "1", "2");
    assert.equal((Deno.statSync(`${workspace.folder.path}/s.sh`).mode ?? 0) & 0o777, mode);
  }
  assert.deepEqual([...Deno.readDirSync(workspace.folder.path)].map(({ name }) => name), ["s.sh"]);
});

Deno.test("a planned change is applied at most once", async () => {
  await using workspace = await TestWorkspace.open();
  const planned = await workspace.plan({ type: "create", path: "n", content: "1\n" });
  assert.equal(workspace.folder.exists("n"), false, "planning writes nothing");
  await planned.apply();
  await planned.applyRefused("io");
  assert.equal(workspace.folder.read("n"), "1\n");
});

Deno.test("create makes the folders it needs and refuses what appeared meanwhile", async () => {
  await using workspace = await TestWorkspace.open();
  await (await workspace.plan({ type: "create", path: "a/b/c.txt", content: "x\n" })).apply();
  assert.equal(workspace.folder.read("a/b/c.txt"), "x\n");
  const planned = await workspace.plan({ type: "create", path: "late", content: "ours\n" });
  workspace.folder.write("late", "theirs\n");
  await planned.applyRefused("exists");
  assert.equal(workspace.folder.read("late"), "theirs\n");
});

Deno.test("delete and rename do what they say, for the version that was read", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("a", "1\n");
  folder.write("b", "2\n");
  const rename = await workspace.plan({
    type: "rename",
    path: "a",
    to: "c",
    expected: await workspace.digest("a"),
  });
  assert.deepEqual(rename.shown.before, rename.shown.after);
  await rename.apply();
  assert.equal(folder.exists("a"), false);
  assert.equal(folder.read("c"), "1\n");
  const remove = await workspace.plan({
    type: "delete",
    path: "b",
    expected: await workspace.digest("b"),
  });
  assert.deepEqual(remove.shown.preImage, encoder.encode("2\n"));
  await remove.apply();
  assert.equal(folder.exists("b"), false);
  folder.write("d", "3\n");
  await workspace.planRefused(
    { type: "rename", path: "c", to: "d", expected: await workspace.digest("c") },
    "exists",
  );
  const stale = await workspace.plan({
    type: "delete",
    path: "d",
    expected: await workspace.digest("d"),
  });
  folder.write("d", "user\n");
  await stale.applyRefused("stale_version");
  assert.equal(folder.read("d"), "user\n");
});

Deno.test("rewrite keeps the file's own line endings and mode", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("f", "a\r\nb\r\n");
  const planned = await workspace.plan({
    type: "rewrite",
    path: "f",
    expected: await workspace.digest("f"),
    content: "x\ny\n",
  });
  await planned.apply();
  assert.equal(workspace.folder.read("f"), "x\r\ny\r\n");
});

Deno.test("a change that changes nothing is refused", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("f", "a\n");
  await workspace.planRefused({
    type: "edit",
    path: "f",
    expected: await workspace.digest("f"),
    replacements: [{ oldText: "a", newText: "a", all: false }],
  }, "no_match");
});
