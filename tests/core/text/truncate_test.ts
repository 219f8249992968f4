import assert from "node:assert/strict";
import fc from "fast-check";
import { headOf, tailOf, truncateMiddle, utf8Length } from "../../../src/core/text/truncate.ts";

const encoder = new TextEncoder();

Deno.test("utf8Length() equals the encoder on any text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.equal(utf8Length(text), encoder.encode(text).length);
  }));
  assert.equal(utf8Length("\ud800x\udc00"), encoder.encode("\ud800x\udc00").length);
});

Deno.test("headOf() and tailOf() take as much as fits and cut no character", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.nat(40), (text, max) => {
    for (const part of [headOf(text, max), tailOf(text, max)]) {
      assert.ok(utf8Length(part) <= max);
      assert.ok(part.isWellFormed() || !text.isWellFormed());
    }
    assert.ok(text.startsWith(headOf(text, max)));
    assert.ok(text.endsWith(tailOf(text, max)));
  }));
});

Deno.test("truncateMiddle() leaves a text that fits alone", () => {
  assert.equal(truncateMiddle("äöü", 6), "äöü");
});

Deno.test("truncateMiddle() keeps head and tail in whole lines and says what is missing", () => {
  const text = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join("");
  const cut = truncateMiddle(text, 200);
  assert.ok(utf8Length(cut) <= 200);
  assert.match(cut, /^line 0\n/);
  assert.match(cut, /line 99\n$/);
  const left = /\[\.\.\. (\d+) bytes left out \.\.\.\]/.exec(cut)?.[1];
  assert.equal(Number(left), utf8Length(text) - utf8Length(cut.replace(/\[\.\.\..*\n/, "")));
});

Deno.test("truncateMiddle() never exceeds its bound", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 50 }), fc.nat(120), (text, max) => {
    assert.ok(utf8Length(truncateMiddle(text, max)) <= max);
  }));
});
