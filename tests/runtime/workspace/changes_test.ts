import assert from "node:assert/strict";
import { TestWorkspace } from "../../support/workspace.ts";

const encoder = new TextEncoder();

function bytes(workspace: TestWorkspace, path: string): Uint8Array {
  return Deno.readFileSync(`${workspace.folder.path}/${path}`);
}

/** Each row: content before, old text, new text, content after. */
const EDITS: readonly (readonly [name: string, string, string, string, string])[] = [
  [
    "dollar patterns are literal",
    'log("done");',
    "done",
    "$& $1 $$ $' ok",
    'log("$& $1 $$ $\' ok");',
  ],
  ["CRLF is matched and kept", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"],
  ["mixed endings keep every other line", "a\r\nb\nc\r\nd\n", "b\nc", "B\nC", "a\r\nB\nC\r\nd\n"],
  ["a byte order mark stays", "\ufeffhello\nx\n", "hello", "bye", "\ufeffbye\nx\n"],
  ["no final newline stays none", "a\nb", "b", "c", "a\nc"],
  ["tabs and spaces are exact", "\tif x\n    if y\n", "    if y", "\tif z", "\tif x\n\tif z\n"],
  ["the space after a match stays", "foo   bar baz", "foo   bar", "XY", "XY baz"],
  ["NFC and NFD are different", "e\u0301 é\n", "é", "E", "e\u0301 E\n"],
  ["an empty new text deletes", "abc\n", "b", "", "ac\n"],
  ["characters beyond the basic plane", "😀 a\n", "😀", "漢", "漢 a\n"],
];

for (const [name, before, oldText, newText, after] of EDITS) {
  Deno.test(`edit: ${name}`, async () => {
    await using workspace = await TestWorkspace.open();
    workspace.folder.write("f", before);
    await workspace.edit("f", oldText, newText);
    assert.deepEqual(bytes(workspace, "f"), encoder.encode(after));
  });
}

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

Deno.test("edit replaces all when asked, and only then several", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("f", "a b a\na\n");
  const expected = await workspace.digest("f");
  const change = (all: boolean) => ({
    type: "edit" as const,
    path: "f",
    expected,
    replacements: [{ oldText: "a", newText: "$&x", all }],
  });
  assert.match(await workspace.planRefused(change(false), "ambiguous_match"), /3/);
  await (await workspace.plan(change(true))).apply();
  assert.equal(workspace.folder.read("f"), "$&x b $&x\n$&x\n");
});

const MISSES: readonly (readonly [name: string, string, string, RegExp])[] = [
  ["other indentation", "   three\n", "    three", /space|indent|blank|white/i],
  ["a tab for spaces", "\tx = 1\n", "    x = 1", /tab|white|blank|indent/i],
  ["another case", "const Value = 1\n", "const value = 1", /case/i],
];

for (const [name, content, oldText, hint] of MISSES) {
  Deno.test(`edit without a match names what differs: ${name}`, async () => {
    await using workspace = await TestWorkspace.open();
    workspace.folder.write("f", content);
    const detail = await workspace.planRefused({
      type: "edit",
      path: "f",
      expected: await workspace.digest("f"),
      replacements: [{ oldText, newText: "y", all: false }],
    }, "no_match");
    assert.match(detail, /1/, "the line");
    assert.match(detail, hint);
    assert.equal(workspace.folder.read("f"), content);
  });
}

Deno.test("edit refuses what it cannot keep: Latin-1, binary, huge", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("latin1", new Uint8Array([...encoder.encode("x = 1; // caf"), 0xe9, 10]));
  folder.write("binary", new Uint8Array([120, 0, 121, 10]));
  Deno.truncateSync((folder.write("huge", "x"), `${folder.path}/huge`), 200_000_000);
  const before = bytes(workspace, "latin1");
  for (
    const [path, reason] of [["latin1", "not_utf8"], ["binary", "binary"], [
      "huge",
      "too_large",
    ]] as const
  ) {
    const versions = await workspace.ok({ type: "versions", paths: [path] });
    const version = versions[0];
    const expected = version?.ok && version.value.state === "file"
      ? version.value.digest
      : "0".repeat(64) as never;
    await workspace.planRefused({
      type: "edit",
      path,
      expected,
      replacements: [{ oldText: "x", newText: "y", all: false }],
    }, reason);
  }
  assert.deepEqual(bytes(workspace, "latin1"), before);
});

Deno.test("edit refuses a version that is no longer there, before and after planning", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("f", "one\n");
  const expected = await workspace.digest("f");
  const change = {
    type: "edit" as const,
    path: "f",
    expected,
    replacements: [{ oldText: "one", newText: "two", all: false }],
  };
  folder.write("f", "one\nmore\n");
  await workspace.planRefused(change, "stale_version");
  folder.write("f", "one\n");
  const planned = await workspace.plan(change);
  folder.write("f", "one\nuser\n");
  await planned.applyRefused("stale_version");
  assert.equal(folder.read("f"), "one\nuser\n");
  const gone = await workspace.plan({ ...change, expected: await workspace.digest("f") });
  Deno.removeSync(`${folder.path}/f`);
  await gone.applyRefused("stale_version");
  folder.write("f", "one\n");
  const directory = await workspace.plan({ ...change, expected: await workspace.digest("f") });
  Deno.removeSync(`${folder.path}/f`);
  Deno.mkdirSync(`${folder.path}/f`);
  await directory.applyRefused("is_directory");
  assert.equal(Deno.statSync(`${folder.path}/f`).isDirectory, true);
  assert.deepEqual([...Deno.readDirSync(folder.path)].map(({ name }) => name), ["f"]);
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
