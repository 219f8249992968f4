import assert from "node:assert/strict";
import { MAX_DISCOVERED } from "../../../src/runtime/workspace/_discover.ts";
import { MAX_MATCH_CHARACTERS } from "../../../src/runtime/workspace/search.ts";
import { TestWorkspace } from "../../support/workspace.ts";

interface Query {
  readonly pattern: string;
  readonly mode?: "literal" | "regex";
  readonly caseSensitive?: boolean;
  readonly path?: string;
  readonly glob?: string | null;
  readonly maxMatches?: number;
  readonly maxBytes?: number;
}

function request(query: Query) {
  return {
    type: "search" as const,
    mode: "literal" as const,
    caseSensitive: true,
    path: ".",
    glob: null,
    maxMatches: 100,
    maxBytes: 65_536,
    candidates: null,
    ...query,
  };
}

async function lines(workspace: TestWorkspace, query: Query): Promise<string[]> {
  const { matches } = await workspace.ok(request(query));
  return matches.map(({ path, line, text }) => `${path}:${line}:${text}`);
}

Deno.test("searchFiles() matches regular expressions within a line only", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("f", "a\nb a\r\n\nba\nab");
  const found = (pattern: string) => lines(workspace, { pattern, mode: "regex" });
  assert.deepEqual(await found("a[^c]*b"), ["f:5:ab"]);
  assert.deepEqual(await found("a\\s*b"), ["f:5:ab"]);
  assert.deepEqual(await found("a$"), ["f:1:a", "f:2:b a", "f:4:ba"]);
  assert.deepEqual(await found("^$"), ["f:3:"]);
  assert.deepEqual(await found("\\Aa\\z"), ["f:1:a"]);
  assert.deepEqual(await found("^b"), ["f:2:b a", "f:4:ba"]);
});

Deno.test("searchFiles() agrees with a line-by-line search", async () => {
  await using workspace = await TestWorkspace.open();
  const content = Array.from({ length: 300 }, (_, i) => `${"ab ".repeat(i % 4)}${i % 7}`).join(
    "\n",
  );
  workspace.folder.write("f", content);
  for (const pattern of ["ab 3$", "^\\d", "(ab ){2}[^a]", "b\\s*\\d"]) {
    const expected = content.split("\n").flatMap((text, i) =>
      new RegExp(pattern).test(text) ? [`f:${i + 1}:${text}`] : []
    );
    assert.deepEqual(await lines(workspace, { pattern, mode: "regex", maxMatches: 400 }), expected);
  }
});

Deno.test("searchFiles() takes patterns as they are, dashes and signs included", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("f", "-77\n->\n--pdf-engine\na.c\nabc\n(x\nÉcole\n");
  for (const pattern of ["-77", "->", "--pdf-engine", "a.c", "(x"]) {
    assert.equal((await lines(workspace, { pattern })).length, 1, pattern);
  }
  assert.deepEqual(await lines(workspace, { pattern: "éCOLE", caseSensitive: false }), [
    "f:7:École",
  ]);
});

Deno.test("searchFiles() finds and counts in odd names and long lines", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  for (const name of ["-rf", "a\nb", 'q"uote', "ü"]) folder.write(name, "needle\n");
  folder.write("long", `${"x".repeat(65_536)}needle${"y".repeat(10)}\n`);
  const { matches } = await workspace.ok(request({ pattern: "needle" }));
  assert.deepEqual(matches.map(({ path }) => path), ["-rf", "a\nb", "long", 'q"uote', "ü"]);
  const long = matches[2]?.text ?? "";
  assert.ok(long.includes("needle") && long.length <= MAX_MATCH_CHARACTERS + 2);
});

Deno.test("searchFiles() counts what it skips, by reason", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("text", "needle\n");
  folder.write("latin1", new Uint8Array([...new TextEncoder().encode("needle "), 0xe9]));
  folder.write("binary", new Uint8Array([...new TextEncoder().encode("needle"), 0]));
  folder.write("huge", new Uint8Array(3_000_000).fill(0x61));
  folder.write(".env", "needle");
  folder.write("id_rsa", "needle");
  Deno.symlinkSync("text", `${folder.path}/link`);
  new Deno.Command("mkfifo", { args: [`${folder.path}/pipe`] }).outputSync();
  const result = await workspace.ok(request({ pattern: "needle" }));
  assert.deepEqual(result.matches.map(({ path }) => path), ["latin1", "text"]);
  assert.deepEqual(result.skipped, { secret: 2, binary: 1, too_large: 1, link: 1, special: 1 });
  assert.equal(result.filesSearched, 2);
  // Named directly it is the user's own wish.
  assert.deepEqual(await lines(workspace, { pattern: "needle", path: ".env" }), [".env:1:needle"]);
});

Deno.test("searchFiles() stops at its bounds and says which", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("f", "needle\n".repeat(10));
  const cut = async (query: Omit<Query, "pattern">) => {
    const { matches, cut } = await workspace.ok(request({ pattern: "needle", ...query }));
    return [matches.length, cut];
  };
  assert.deepEqual(await cut({ maxMatches: 3 }), [3, "matches"]);
  assert.deepEqual(await cut({ maxMatches: 10 }), [10, null]);
  assert.deepEqual(await cut({ maxBytes: 20 }), [2, "bytes"]);
});

Deno.test("searchFiles() refuses patterns it cannot take", async () => {
  await using workspace = await TestWorkspace.open();
  for (
    const query of [
      { pattern: "" },
      { pattern: "a\nb" },
      { pattern: "(", mode: "regex" },
      { pattern: "(a)\\1", mode: "regex" },
      { pattern: "x".repeat(2000) },
      { pattern: "x", glob: "" },
    ] as const
  ) await workspace.refused(request(query), "invalid_pattern");
  await workspace.refused(request({ pattern: "x", path: "missing" }), "not_found");
  await workspace.refused(request({ pattern: "x", path: "../x" }), "outside_workspace");
});

Deno.test("searchFiles() and listEntries() say when there are too many names", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("a", "needle\n");
  const names = Array.from({ length: MAX_DISCOVERED }, (_, i) => `missing${i}\0`).join("");
  const candidates = new TextEncoder().encode(`a\0${names}`);
  const result = await workspace.ok({ ...request({ pattern: "needle" }), candidates });
  assert.deepEqual([result.matches.length, result.cut], [1, "files"]);
  const list = await workspace.ok({ type: "list", path: ".", depth: 1, maxEntries: 9, candidates });
  assert.deepEqual([list.entries.length, list.cut], [1, true]);
});
