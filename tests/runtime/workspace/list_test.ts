import assert from "node:assert/strict";
import { TestWorkspace } from "../../support/workspace.ts";

/** Ignore files that are easy to get wrong, and files to try them on. */
const RULES: Readonly<Record<string, string>> = {
  ".gitignore":
    "# comment\nbin/*\n!bin/www/\n*.log\n!keep.log\n/only-root\ndoc/*.txt\nbuild/\n\\#odd\n\\!bang\ntrail   \na/**/z\n[ab].c\n",
  "nested/.gitignore": "*.tmp\n!important.log\n/here\ndeep/x\nsub dir/\n",
  "nested/un[us]ual/.gitignore": "local\n!kept.tmp\n",
};
const FILES: readonly string[] = [
  "bin/a",
  "bin/www/index.html",
  "bin/www/x.log",
  "app.log",
  "keep.log",
  "only-root",
  "sub/only-root",
  "doc/a.txt",
  "doc/in/a.txt",
  "build/out",
  "sub/build/out",
  "#odd",
  "!bang",
  "trail",
  "a/z",
  "a/b/z",
  "a/b/c/z",
  "a.c",
  "c.c",
  "nested/x.tmp",
  "nested/important.log",
  "nested/other.log",
  "nested/here",
  "nested/deep/x",
  "nested/deep/here",
  "nested/in/deep/x",
  "nested/sub dir/f",
  "nested/un[us]ual/local",
  "nested/un[us]ual/kept.tmp",
  "nested/un[us]ual/lost.tmp",
  "nested/unuual/local",
  "Bin/a",
  "UPPER.LOG",
];

Deno.test("listEntries() ignores exactly what Git ignores", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  for (const [name, content] of Object.entries(RULES)) folder.write(name, content);
  for (const name of FILES) folder.write(name, "x");
  folder.git("init", "-q");
  const expected = folder.git("ls-files", "-z", "-co", "--exclude-standard").split("\0")
    .filter((name) => name !== "").sort();
  const { entries } = await workspace.ok({
    type: "list",
    path: ".",
    depth: 9,
    maxEntries: 1000,
    candidates: null,
  });
  const listed = entries.filter(({ kind }) => kind === "file").map(({ path }) => path).sort();
  assert.deepEqual(listed, expected);
});

Deno.test("listEntries() applies the rules of the folders above its start", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write(".gitignore", "*.log\nsub/hidden\n");
  for (const name of ["sub/a.log", "sub/hidden", "sub/shown"]) workspace.folder.write(name, "x");
  const { entries } = await workspace.ok({
    type: "list",
    path: "sub",
    depth: 1,
    maxEntries: 10,
    candidates: null,
  });
  assert.deepEqual(entries.map(({ path }) => path), ["sub/shown"]);
});

Deno.test("listEntries() says when more would have come, and only then", async () => {
  await using workspace = await TestWorkspace.open();
  for (const name of ["a", "b", "c/d"]) workspace.folder.write(name, "x");
  const list = (maxEntries: number, depth = 1) =>
    workspace.ok({ type: "list", path: ".", depth, maxEntries, candidates: null });
  assert.deepEqual((await list(3)).entries.map(({ path }) => path), ["a", "b", "c"]);
  assert.equal((await list(3)).cut, false);
  assert.equal((await list(2)).cut, true);
  assert.deepEqual((await list(9, 2)).entries.map(({ path }) => path), ["a", "b", "c", "c/d"]);
});

Deno.test("listEntries() never follows a link to a folder", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("real/a", "x");
  Deno.symlinkSync("real", `${workspace.folder.path}/alias`);
  Deno.symlinkSync("..", `${workspace.folder.path}/real/up`);
  const { entries } = await workspace.ok({
    type: "list",
    path: ".",
    depth: 20,
    maxEntries: 100,
    candidates: null,
  });
  assert.deepEqual(entries.map(({ path, kind }) => `${kind} ${path}`), [
    "link alias",
    "directory real",
    "file real/a",
    "link real/up",
  ]);
});
