import assert from "node:assert/strict";
import { MAX_DIFF_BYTES, unifiedDiff } from "../../../src/runtime/workspace/unified_diff.ts";

Deno.test("unifiedDiff() shows a change with its context", () => {
  assert.equal(
    unifiedDiff({ path: "f", text: "1\n2\n3\n4\n5\n" }, { path: "f", text: "1\n2\n3\n4\nfive" }),
    "--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n\\ No newline at end of file\n",
  );
});

Deno.test("unifiedDiff() names an absent side", () => {
  assert.match(
    unifiedDiff({ path: null, text: "" }, { path: "f", text: "a\n" }),
    /^--- \/dev\/null\n/,
  );
  assert.match(
    unifiedDiff({ path: "f", text: "a\n" }, { path: null, text: "" }),
    /\n\+\+\+ \/dev\/null\n/,
  );
});

Deno.test("unifiedDiff() shows a change of line endings", () => {
  const diff = unifiedDiff({ path: "f", text: "a\nb\n" }, { path: "f", text: "a\r\nb\n" });
  assert.match(diff, /\n-a\n\+a\r\n/);
});

Deno.test("unifiedDiff() is bounded in size and says what is left out", () => {
  const text = Array.from({ length: 3000 }, (_, i) => `line ${i} ${"é".repeat(40)}`).join("\n");
  const diff = unifiedDiff({ path: null, text: "" }, { path: "f", text });
  assert.ok(new TextEncoder().encode(diff).length <= MAX_DIFF_BYTES);
  assert.match(diff, /\n\\ \d+ more lines of the diff are left out\n$/);
});

Deno.test("unifiedDiff() gives up on texts that have nothing in common", () => {
  const lines = (prefix: string) => Array.from({ length: 8000 }, (_, i) => prefix + i).join("\n");
  const diff = unifiedDiff({ path: "f", text: lines("a") }, { path: "f", text: lines("b") });
  assert.match(diff, /Too many changes to compare: 8000 lines become 8000/);
});
