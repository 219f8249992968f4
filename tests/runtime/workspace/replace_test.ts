import assert from "node:assert/strict";
import { replaceText } from "../../../src/runtime/workspace/replace.ts";

function replaced(text: string, oldText: string, newText: string, all = false): string {
  const result = replaceText(text, { oldText, newText, all });
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

function missed(text: string, oldText: string, all = false): string {
  const result = replaceText(text, { oldText, newText: "new", all });
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error.detail;
}

/** Text, old, new, result. Endings are the point of each row. */
const ENDINGS: readonly (readonly [string, string, string, string])[] = [
  ["a\r\nb\r\nc\r\n", "a\nb", "x\ny\n", "x\r\ny\r\n\r\nc\r\n"],
  ["a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"],
  ["a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"],
  ["a\r\nb", "b", "x\ny", "a\r\nx\r\ny"],
  ["a\nb\r\nc", "b", "x\ny", "a\nx\r\ny\r\nc"],
  ["a\nb\r\nc\nd", "a\nb\nc\n", "1\n2\n3\n4\n", "1\n2\r\n3\n4\nd"],
  ["\r\n\r\nx", "\n\nx", "\ny", "\r\ny"],
  ["a\rb\r\n", "a\rb", "c\rd", "c\rd\r\n"],
  ["one line", "one", "1\n2", "1\n2 line"],
];

for (const [text, oldText, newText, expected] of ENDINGS) {
  const name = [text, oldText, newText].map((part) => JSON.stringify(part)).join(", ");
  Deno.test(`replaceText() writes the file's own endings: ${name}`, () => {
    assert.equal(replaced(text, oldText, newText), expected);
  });
}

Deno.test("replaceText() replaces all without touching what it inserted", () => {
  assert.equal(replaced("aXaXa", "a", "aa", true), "aaXaaXaa");
  assert.equal(replaced("aaa", "aa", "b", true), "ba");
  assert.equal(replaced("x\r\nx\nx\r\n", "x\n", "$1\n", true), "$1\r\n$1\n$1\r\n");
});

Deno.test("replaceText() names how often and where an ambiguous text occurs", () => {
  assert.equal(missed("a\nb\na\r\na\n", "a"), "3 matches, on lines 1, 3, 4");
  assert.equal(missed("aaa", "aa"), "2 matches, on lines 1, 1");
  assert.match(missed("x\n".repeat(50), "x"), /^50 matches, on lines 1, 2, .*20, …$/);
});

/** Text, old, what the answer must say. */
const MISSES: readonly (readonly [string, string, RegExp])[] = [
  ["", "a", /empty/],
  ["abc", "", /old text is empty/],
  ["x\n   if a:\n", "    if a:", /line 2.*indentation/],
  ["\tif a:\n", "    if a:", /line 1.*indentation.*\\t/],
  ["a = 1   \nb\n", "a = 1\nb", /line 1.*spaces at the end/],
  ["a =  1\n", "a = 1", /line 1.*tabs and spaces/],
  ["say(\u201Chi\u201D)\n", 'say("hi")', /line 1.*quotes/],
  ["a \u2013 b\n", "a - b", /line 1.*dashes/],
  ["Const a\n", "const a", /line 1.*case/],
  ["caf\u00e9\n", "cafe\u0301", /line 1.*normalisation/],
  ["  Foo('x')\n", '    foo("x")', /line 1.*indentation.*quotes.*case/],
  ["first line\nlet total = 10;\n", "let total = 12;", /line 2: differs from column 14/],
  ["one\ntwo\n", "one\ntwo\nthree\nfour", /goes past the end/],
  ["alpha\n", "completely different", /no line is close/],
];

for (const [text, oldText, expected] of MISSES) {
  Deno.test(`replaceText() says what differs: ${JSON.stringify([text, oldText])}`, () => {
    assert.match(missed(text, oldText), expected);
  });
}

Deno.test("replaceText() keeps its answer short for a long line", () => {
  assert.ok(missed(`${"x".repeat(50_000)}A\n`, `${"x".repeat(50_000)}B`).length < 400);
});
