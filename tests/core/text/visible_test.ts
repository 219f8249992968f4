import assert from "node:assert/strict";
import fc from "fast-check";
import { needsEscape, visible } from "../../../src/core/text/visible.ts";

Deno.test("visible() shows what would act, hide or turn around", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["plain ä 漢", "plain ä 漢"],
    ["a\nb\tc\r", "a\\nb\\tc\\r"],
    ["\x1b[2J", "\\x1b[2J"],
    ["\x9b", "\\x9b"],
    ["rm \u202efdp", "rm \\u{202e}fdp"],
    ["a\u200bb", "a\\u{200b}b"],
    ["a\u200db", "a\\u{200d}b"],
    ["\ud800", "\\u{d800}"],
    ["a\\n", "a\\\\n"],
  ];
  for (const [input, expected] of cases) assert.equal(visible(input), expected);
});

Deno.test("visible() keeps different texts different and every character harmless", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      assert.equal(visible(a) === visible(b), a === b);
      for (const c of visible(a)) assert.ok(!needsEscape(c.codePointAt(0) ?? 0));
    }),
  );
});
