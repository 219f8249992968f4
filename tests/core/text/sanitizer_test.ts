import assert from "node:assert/strict";
import fc from "fast-check";
import {
  isBidiControl,
  isControl,
  isInvisible,
  isSurrogate,
} from "../../../src/core/text/code_points.ts";
import { Sanitizer } from "../../../src/core/text/sanitizer.ts";

const PROPERTY_RUNS = 500;

function sanitize(text: string): string {
  const sanitizer = new Sanitizer();
  return sanitizer.push(text) + sanitizer.end();
}

const CASES: readonly (readonly [name: string, input: string, expected: string])[] = [
  ["plain text", "a b\n\tc ä 漢 😀", "a b\n\tc ä 漢 😀"],
  ["clear screen and home", "before\x1b[2J\x1b[Hafter", "beforeafter"],
  ["colour", "\x1b[31;1mred\x1b[0m", "red"],
  ["title by BEL", "\x1b]0;title\x07text", "text"],
  ["title by ST", "\x1b]0;title\x1b\\text", "text"],
  ["hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
  ["clipboard", "\x1b]52;c;cHduZWQ=\x07", ""],
  ["device control string", "\x1bP1;2qsixel\x1b\\x", "x"],
  ["application command", "\x1b_Gkitty\x1b\\x", "x"],
  ["privacy message", "\x1b^pm\x1b\\x", "x"],
  ["C1 CSI", "\x9b2Jx", "x"],
  ["C1 OSC", "\x9d0;t\x9cx", "x"],
  ["C1 DCS by CAN", "\x90abc\x18x", "x"],
  ["other C1", "a\x84\x85\x8db", "ab"],
  ["bell and backspace", "a\x07b\x08\x08c", "abc"],
  ["DEL and NUL", "a\x7f\x00b", "ab"],
  ["charset selection", "\x1b(0x", "x"],
  ["two-character sequence", "\x1b7a\x1b8b\x1bc", "ab"],
  ["CSI with intermediates", "\x1b[?25$px\x1b[ q", "x"],
  ["CSI broken by newline", "\x1b[31\nx", "\nx"],
  ["ESC ESC CSI", "\x1b\x1b[2Jx", "x"],
  ["ESC before text", "\x1b\nx", "\nx"],
  ["CRLF", "a\r\nb", "a\nb"],
  ["lone CR begins a line", "12%\r34%\rdone", "12%\n34%\ndone"],
  ["several CRs are one", "a\r\r\r\nb", "a\nb"],
  ["CR at the end", "a\r", "a\n"],
  ["bidi override", "a\u202eb\u202cc", "abc"],
  ["bidi isolates", "\u2066x\u2069", "x"],
  ["direction marks", "a\u200eb\u200fc\u061cd", "abcd"],
  ["zero width space", "pass\u200bword", "password"],
  ["line separators", "a\u2028b\u2029c", "abc"],
  ["tag characters", "a\u{e0041}b", "ab"],
  ["BOM inside", "a\ufeffb", "ab"],
  ["lone surrogates", "a\ud800b\udc00c", "abc"],
  ["emoji with joiner and selector", "👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"],
  ["unended title swallows no next line", "\x1b]0;evil\nnext", "[...]\nnext"],
  ["unended title at the end", "\x1b]0;evil", "[...]"],
];

for (const [name, input, expected] of CASES) {
  Deno.test(`Sanitizer: ${name}`, () => assert.equal(sanitize(input), expected));
  Deno.test(`Sanitizer: ${name}, cut at every place`, () => {
    for (let cut = 0; cut <= input.length; cut++) {
      const sanitizer = new Sanitizer();
      const shown = sanitizer.push(input.slice(0, cut)) + sanitizer.push(input.slice(cut)) +
        sanitizer.end();
      assert.equal(shown, expected, `cut at ${cut}`);
    }
  });
}

Deno.test("Sanitizer gives up an endless sequence and shows what follows", () => {
  const shown = sanitize(`\x1b]0;${"x".repeat(100_000)}end`);
  assert.match(shown, /^\[\.\.\.\]x+end$/);
});

/** Text dense in what matters: introducers, finals, controls, and their neighbours. */
const hostile = fc.array(
  fc.oneof(
    fc.constantFrom(...[
      "\x1b",
      "[",
      "]",
      "P",
      "_",
      "\\",
      "\x07",
      "\x9b",
      "\x9c",
      "\x9d",
      "\r",
      "\n",
    ]),
    fc.constantFrom("\ud83d", "\ude00", "\u202e", "\u200b", "m", ";", "1", "?", " ", "ä", "x"),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
  { maxLength: 40 },
).map((parts) => parts.join(""));

Deno.test("Sanitizer gives the same however the text is cut", () => {
  fc.assert(
    fc.property(hostile, fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
      const sanitizer = new Sanitizer();
      let shown = "";
      let at = 0;
      for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
        shown += sanitizer.push(text.slice(at, Math.max(at, cut)));
        at = Math.max(at, cut);
      }
      assert.equal(shown + sanitizer.end(), sanitize(text));
    }),
    { numRuns: PROPERTY_RUNS },
  );
});

Deno.test("Sanitizer lets nothing through that acts or hides", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      for (const character of sanitize(text)) {
        const codePoint = character.codePointAt(0) ?? 0;
        if (character === "\n" || character === "\t") continue;
        assert.ok(
          !isControl(codePoint) && !isBidiControl(codePoint) && !isInvisible(codePoint) &&
            !isSurrogate(codePoint),
          `U+${codePoint.toString(16)} came through`,
        );
      }
    }),
    { numRuns: PROPERTY_RUNS },
  );
});

Deno.test("Sanitizer is the identity on text that it need not change", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
    assert.equal(sanitize(text), text);
  }));
});
