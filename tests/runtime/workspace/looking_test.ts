import assert from "node:assert/strict";
import { TestWorkspace } from "../../support/workspace.ts";

function search(pattern: string, changes: Record<string, unknown> = {}) {
  return {
    type: "search" as const,
    pattern,
    mode: "literal" as const,
    caseSensitive: true,
    path: ".",
    glob: null,
    maxMatches: 100,
    maxBytes: 100_000,
    candidates: null,
    ...changes,
  };
}

Deno.test("read tells an empty file, cuts by lines and bytes, and names what follows", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("empty", "");
  workspace.folder.write(
    "lines",
    Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join(""),
  );
  workspace.folder.write("long", "x".repeat(65_536) + "\nend\n");
  const empty = await workspace.read("empty");
  assert.deepEqual([empty.firstLine, empty.text, empty.version.sizeBytes], [0, "", 0]);
  const part = await workspace.ok({
    type: "read",
    path: "lines",
    firstLine: 11,
    maxLines: 5,
    maxBytes: 10_000,
  });
  assert.equal(part.text, "line 11\nline 12\nline 13\nline 14\nline 15");
  assert.deepEqual([part.firstLine, part.lastLine, part.totalLines, part.cut], [
    11,
    15,
    100,
    "lines",
  ]);
  const few = await workspace.ok({
    type: "read",
    path: "lines",
    firstLine: 1,
    maxLines: 100,
    maxBytes: 30,
  });
  assert.equal(few.cut, "bytes");
  assert.ok(few.text.length <= 30);
  const long = await workspace.ok({
    type: "read",
    path: "long",
    firstLine: 1,
    maxLines: 10,
    maxBytes: 100_000,
  });
  assert.equal(long.cut, "line_length");
});

Deno.test("search finds literal and regular text with path and line", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("a.ts", "one\nTwo -77\nthree\n");
  folder.write("dir/b.ts", "x -> two\n");
  folder.write("dir/c.md", "two\n");
  const places = async (request: ReturnType<typeof search>) =>
    (await workspace.ok(request)).matches.map(({ path, line }) => `${path}:${line}`);
  assert.deepEqual(await places(search("-77")), ["a.ts:2"]);
  assert.deepEqual(await places(search("->")), ["dir/b.ts:1"]);
  assert.deepEqual(await places(search("two", { caseSensitive: false })), [
    "a.ts:2",
    "dir/b.ts:1",
    "dir/c.md:1",
  ]);
  assert.deepEqual(await places(search("^t\\w+$", { mode: "regex" })), ["a.ts:3", "dir/c.md:1"]);
  assert.deepEqual(await places(search("two", { glob: "*.md" })), ["dir/c.md:1"]);
  assert.deepEqual(await places(search("two", { path: "dir" })), ["dir/b.ts:1", "dir/c.md:1"]);
  assert.deepEqual(await places(search("a.b")), [], "a literal dot is a dot");
});

Deno.test("search takes no exponential time on a hostile expression", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("a", `${"a".repeat(5000)}!\n`);
  const begin = performance.now();
  const found = await workspace.ok(search("(a+)+$", { mode: "regex" }));
  assert.equal(found.matches.length, 0);
  assert.ok(performance.now() - begin < 5000);
  await workspace.refused(search("(", { mode: "regex" }), "invalid_pattern");
});

Deno.test("search and list leave out what is ignored, private, binary or secret", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write(".gitignore", "node_modules/\nbin/*\n!bin/www\n");
  for (
    const name of [
      "node_modules/x/a",
      "bin/drop",
      "bin/www",
      "src/a",
      ".env",
      ".git/config",
      ".fluzo",
      ".fluzodrive/x",
      "id_rsa",
    ]
  ) {
    folder.write(name, "needle\n");
  }
  folder.write("binary", new Uint8Array([0, 1, 2]));
  const found = await workspace.ok(search("needle"));
  assert.deepEqual(found.matches.map(({ path }) => path), ["bin/www", "src/a"]);
  const listed = await workspace.ok({
    type: "list",
    path: ".",
    depth: 3,
    maxEntries: 100,
    candidates: null,
  });
  const names = listed.entries.map(({ path }) => path);
  assert.ok(names.includes("src/a") && names.includes("bin/www"));
  for (
    const hidden of [".git", ".fluzo", ".fluzodrive", "node_modules", ".env", "id_rsa", "bin/drop"]
  ) {
    assert.ok(!names.includes(hidden), hidden);
  }
});

Deno.test("candidates are hints: each name is opened for itself and odd names are safe", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("-rf", "needle\n");
  folder.write('line\nbreak "q"', "needle\n");
  Deno.symlinkSync("/etc/hostname", `${folder.path}/out`);
  const names = ["-rf", 'line\nbreak "q"', "gone", "out", "../../etc/passwd", ".git/config"];
  const candidates = new TextEncoder().encode(names.map((name) => `${name}\0`).join(""));
  const found = await workspace.ok(search("needle", { candidates }));
  assert.deepEqual(found.matches.map(({ path }) => path).sort(), ["-rf", 'line\nbreak "q"'].sort());
});

Deno.test("a name that is not UTF-8 is listed and flagged", async () => {
  await using workspace = await TestWorkspace.open();
  new Deno.Command("/bin/sh", {
    args: ["-c", 'printf x > "$(printf "bad\\377")"'],
    cwd: workspace.folder.path,
  }).outputSync();
  const listed = await workspace.ok({
    type: "list",
    path: ".",
    depth: 1,
    maxEntries: 10,
    candidates: null,
  });
  assert.equal(listed.entries.length, 1);
  assert.equal(listed.entries[0]?.utf8, false);
});
