import assert from "node:assert/strict";
import { FluzoFailure, type WorkspaceError } from "../../../src/core/errors.ts";
import { Guard } from "../../../src/runtime/workspace/_guard.ts";
import { openWorkspace } from "../../../src/runtime/workspace/_workspace.ts";
import { applyPlan } from "../../../src/runtime/workspace/apply.ts";
import { digestOf } from "../../../src/runtime/workspace/_content.ts";
import { planChange } from "../../../src/runtime/workspace/plan.ts";
import type { FileChange } from "../../../src/runtime/workspace/protocol.ts";
import type { Scope } from "../../../src/runtime/workspace/resolve.ts";
import { countingIds } from "../../support/ids.ts";
import { TestFolder } from "../../support/repository.ts";

/** What another program does in the moment between the last check and the rename. */
type Meanwhile = (folder: TestFolder) => void;

/** Plans and applies in this isolate, with somebody else acting at the worst moment. */
async function raced(
  folder: TestFolder,
  change: FileChange,
  meanwhile: Meanwhile,
): Promise<WorkspaceError> {
  const workspace = openWorkspace(folder.path, []);
  using _root = workspace.root;
  const scope: Scope = { workspace, guard: new Guard(workspace) };
  const { plan } = await planChange(scope, countingIds().next("operation"), change);
  try {
    await applyPlan(scope, plan, { beforeRename: () => meanwhile(folder) });
  } catch (error) {
    if (error instanceof FluzoFailure && error.error.type === "workspace") return error.error;
    throw error;
  }
  throw new Error("The change was applied over somebody else's");
}

async function editOf(content: string): Promise<FileChange> {
  return {
    type: "edit",
    path: "f",
    expected: await digestOf(new TextEncoder().encode(content)),
    replacements: [{ oldText: "one", newText: "two", all: false }],
  };
}

function names(folder: TestFolder): string[] {
  return [...Deno.readDirSync(folder.path)].map(({ name }) => name).sort();
}

/** Each row: what somebody does, and what must stand at the path afterwards (null: nothing). */
const RACES: readonly (readonly [name: string, Meanwhile, string | null])[] = [
  ["writes into the file", (folder) => folder.write("f", "one, but mine\n"), "one, but mine\n"],
  ["replaces the file by a rename", (folder) => {
    folder.write("g", "replaced\n");
    Deno.renameSync(`${folder.path}/g`, `${folder.path}/f`);
  }, "replaced\n"],
  ["replaces the file by equal content", (folder) => {
    folder.write("g", "one\n");
    Deno.renameSync(`${folder.path}/g`, `${folder.path}/f`);
  }, "one\n"],
  ["removes the file", (folder) => Deno.removeSync(`${folder.path}/f`), null],
];

for (const [name, meanwhile, left] of RACES) {
  Deno.test(`applyPlan() of an edit puts back when somebody ${name}`, async () => {
    using folder = new TestFolder();
    folder.write("f", "one\n");
    const error = await raced(folder, await editOf("one\n"), meanwhile);
    assert.equal(error.reason, "stale_version", error.detail);
    assert.deepEqual(names(folder), left === null ? [] : ["f"]);
    if (left !== null) assert.equal(folder.read("f"), left);
  });

  Deno.test(`applyPlan() of a delete puts back when somebody ${name}`, async () => {
    using folder = new TestFolder();
    folder.write("f", "one\n");
    const expected = await digestOf(new TextEncoder().encode("one\n"));
    const error = await raced(folder, { type: "delete", path: "f", expected }, meanwhile);
    assert.equal(error.reason, "stale_version", error.detail);
    assert.deepEqual(names(folder), left === null ? [] : ["f"]);
    if (left !== null) assert.equal(folder.read("f"), left);
  });

  Deno.test(`applyPlan() of a rename puts back when somebody ${name}`, async () => {
    using folder = new TestFolder();
    folder.write("f", "one\n");
    const expected = await digestOf(new TextEncoder().encode("one\n"));
    const change: FileChange = { type: "rename", path: "f", to: "made/here", expected };
    const error = await raced(folder, change, meanwhile);
    assert.equal(error.reason, "stale_version", error.detail);
    assert.deepEqual(names(folder), left === null ? [] : ["f"], "the folder it made is gone too");
    if (left !== null) assert.equal(folder.read("f"), left);
  });
}

Deno.test("applyPlan() of an edit puts a link back as a link, its target untouched", async () => {
  using folder = new TestFolder();
  folder.write("f", "one\n");
  folder.write("other", "one\n");
  const error = await raced(folder, await editOf("one\n"), () => {
    Deno.removeSync(`${folder.path}/f`);
    Deno.symlinkSync("other", `${folder.path}/f`);
  });
  assert.equal(error.reason, "stale_version");
  assert.equal(Deno.readLinkSync(`${folder.path}/f`), "other");
  assert.equal(folder.read("other"), "one\n");
  assert.deepEqual(names(folder), ["f", "other"]);
});

Deno.test("applyPlan() of an edit refuses a file that got a second name meanwhile", async () => {
  using folder = new TestFolder();
  folder.write("f", "one\n");
  const error = await raced(
    folder,
    await editOf("one\n"),
    () => Deno.linkSync(`${folder.path}/f`, `${folder.path}/twin`),
  );
  assert.equal(error.reason, "stale_version");
  assert.equal(folder.read("f"), "one\n");
  assert.equal(Deno.statSync(`${folder.path}/f`).ino, Deno.statSync(`${folder.path}/twin`).ino);
});

Deno.test("applyPlan() of a create leaves what appeared meanwhile and removes its own", async () => {
  using folder = new TestFolder();
  const error = await raced(
    folder,
    { type: "create", path: "a/b/f", content: "ours\n" },
    () => folder.write("a/b/f", "theirs\n"),
  );
  assert.equal(error.reason, "stale_version");
  assert.equal(folder.read("a/b/f"), "theirs\n");
  assert.deepEqual([...Deno.readDirSync(`${folder.path}/a/b`)].map(({ name }) => name), ["f"]);
});

Deno.test("applyPlan() keeps owner and group where that is permitted", async () => {
  using folder = new TestFolder();
  folder.write("f", "one\n");
  // A user may give a file to any of his own groups; root to anyone.
  const owner = Deno.uid() === 0
    ? { uid: 12345, gid: 23456 }
    : { uid: Deno.uid(), gid: Deno.gid() };
  Deno.chownSync(`${folder.path}/f`, owner.uid, owner.gid);
  Deno.chmodSync(`${folder.path}/f`, 0o640);
  const workspace = openWorkspace(folder.path, []);
  using _root = workspace.root;
  const scope: Scope = { workspace, guard: new Guard(workspace) };
  const { plan } = await planChange(scope, countingIds().next("operation"), await editOf("one\n"));
  await applyPlan(scope, plan);
  const info = Deno.statSync(`${folder.path}/f`);
  assert.deepEqual(
    { uid: info.uid, gid: info.gid, mode: (info.mode ?? 0) & 0o7777 },
    { uid: owner.uid, gid: owner.gid, mode: 0o640 },
  );
});
