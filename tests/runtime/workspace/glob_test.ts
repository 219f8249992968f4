import assert from "node:assert/strict";
import { compileGlob } from "../../../src/runtime/workspace/glob.ts";

/** Glob, paths that match, paths that do not. */
const ROWS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["*.ts", ["a.ts", "x/y/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
  ["a?c", ["abc", "x/abc"], ["ac", "abbc"]],
  ["src/*.ts", ["src/a.ts"], ["a.ts", "src/x/a.ts", "x/src/a.ts"]],
  ["/src/*.ts", ["src/a.ts"], ["x/src/a.ts"]],
  ["./src/*.ts", ["src/a.ts"], ["src/x/a.ts"]],
  ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["lib/a.ts", "src/a.js"]],
  ["**/test/*", ["test/a", "x/y/test/a"], ["test/x/a", "atest/a"]],
  ["src/**", ["src/a", "src/x/a"], ["lib/a"]],
  ["src/", ["src/a", "src/x/a"], ["lib/src/a"]],
  ["*.{ts,js}", ["a.ts", "x/a.js"], ["a.jsx"]],
  ["{a,b{c,d}}/*", ["a/x", "bc/x", "bd/x"], ["b/x", "c/x"]],
  ["a**b", ["ab", "axxb"], ["a/b"]],
  ["[a]", ["[a]"], ["a"]],
  ["a.c", ["a.c"], ["abc"]],
  ["(x|y)+$", ["(x|y)+$"], ["x"]],
];

for (const [glob, yes, no] of ROWS) {
  Deno.test(`compileGlob() ${glob}`, () => {
    const matches = compileGlob(glob);
    assert.ok(matches);
    assert.deepEqual([...yes, ...no].filter(matches), yes);
  });
}

Deno.test("compileGlob() refuses nothing, too much and what expands without end", () => {
  assert.equal(compileGlob(""), null);
  assert.equal(compileGlob("a".repeat(600)), null);
  assert.equal(compileGlob("{a,b}".repeat(30)), null);
});

Deno.test("compileGlob() takes no exponential time", () => {
  const matches = compileGlob(`${"*a".repeat(100)}b`);
  assert.ok(matches);
  assert.equal(matches("a".repeat(4000)), false);
  const folders = compileGlob(`${"**/a/".repeat(80)}b`);
  assert.ok(folders);
  assert.equal(folders("a/".repeat(1500) + "c"), false);
});
