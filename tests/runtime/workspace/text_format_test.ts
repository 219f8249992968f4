import assert from "node:assert/strict";
import fc from "fast-check";
import { adoptFormat, decodeText, encodeText } from "../../../src/runtime/workspace/text_format.ts";

const encoder = new TextEncoder();

function formatOf(text: string): unknown {
  const decoded = decodeText(encoder.encode(text));
  assert.ok(decoded.ok);
  return decoded.value;
}

Deno.test("decodeText() describes what must survive", () => {
  const row = (text: string, endings: string, finalNewline: boolean, bom = false) => ({
    text,
    format: { bom, endings, finalNewline },
  });
  assert.deepEqual(formatOf(""), row("", "none", false));
  assert.deepEqual(formatOf("a\nb"), row("a\nb", "lf", false));
  assert.deepEqual(formatOf("a\r\n"), row("a\r\n", "crlf", true));
  assert.deepEqual(formatOf("a\r\nb\n"), row("a\r\nb\n", "mixed", true));
  assert.deepEqual(formatOf("\n\r\n"), row("\n\r\n", "mixed", true));
  assert.deepEqual(formatOf("a\rb"), row("a\rb", "none", false));
  assert.deepEqual(formatOf("\uFEFFa\n"), row("a\n", "lf", true, true));
  // Only one mark is the file's; a second is a character.
  assert.deepEqual(formatOf("\uFEFF\uFEFF"), row("\uFEFF", "none", false, true));
});

Deno.test("decodeText() refuses what it would not write back byte for byte", () => {
  const refused = (...bytes: number[]) => decodeText(new Uint8Array(bytes));
  assert.deepEqual(refused(0x61, 0), { ok: false, error: "binary" });
  assert.deepEqual(refused(0xff, 0xfe, 0x61, 0), { ok: false, error: "binary" });
  for (const bytes of [[0xe9], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0x82, 0xa0]]) {
    assert.deepEqual(refused(...bytes), { ok: false, error: "not_utf8" });
  }
});

Deno.test("decodeText() and encodeText() give the same bytes back", () => {
  const text = fc.array(fc.constantFrom("a", "é", "😀", "\n", "\r\n", "\r", "\uFEFF", "\t"));
  fc.assert(fc.property(text, (parts) => {
    const bytes = encoder.encode(parts.join(""));
    const decoded = decodeText(bytes);
    assert.ok(decoded.ok);
    assert.deepEqual(encodeText(decoded.value.text, decoded.value.format.bom), bytes);
  }));
});

Deno.test("adoptFormat() keeps CRLF and mark, and the content's own final newline", () => {
  const crlf = { bom: true, endings: "crlf", finalNewline: true } as const;
  assert.deepEqual(adoptFormat("a\nb\r\nc", crlf), encoder.encode("\uFEFFa\r\nb\r\nc"));
  assert.deepEqual(adoptFormat("\uFEFFa", crlf), encoder.encode("\uFEFFa"));
  const lf = { bom: false, endings: "lf", finalNewline: true } as const;
  assert.deepEqual(adoptFormat("a\nb\n", lf), encoder.encode("a\nb\n"));
});
