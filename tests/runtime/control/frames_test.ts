import assert from "node:assert/strict";
import { encodeFrame, FrameSplitter, type NextFrame } from "../../../src/runtime/control/frames.ts";

/** Everything that comes out of these pieces. */
function split(maxBytes: number, pieces: readonly Uint8Array[]): readonly NextFrame[] {
  const splitter = new FrameSplitter(maxBytes);
  const found: NextFrame[] = [];
  for (const piece of pieces) {
    splitter.push(piece);
    while (true) {
      const next = splitter.next();
      if (next.type === "partial") break;
      found.push(next);
      if (next.type !== "frame") return found;
    }
  }
  return found;
}

Deno.test("FrameSplitter finds the same frames wherever the bytes are cut", () => {
  const values = [{ text: "é\nü" }, { text: "" }, [1, "\u0000"], { deep: { "🦊": null } }];
  const bytes = new Uint8Array(values.flatMap((value) => [...encodeFrame(value)]));
  const expected = values.map((value) => ({ type: "frame", text: JSON.stringify(value) }));
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(
      split(100, [bytes.subarray(0, at), bytes.subarray(at)]),
      expected,
      `cut ${at}`,
    );
  }
  assert.deepEqual(split(100, [...bytes].map((byte) => new Uint8Array([byte]))), expected);
});

Deno.test("FrameSplitter takes a frame of the cap and refuses one byte more, ended or not", () => {
  const frame = (length: number) => new TextEncoder().encode("x".repeat(length));
  const ended = (length: number) => new Uint8Array([...frame(length), 10]);
  assert.deepEqual(split(8, [ended(8)]), [{ type: "frame", text: "xxxxxxxx" }]);
  assert.deepEqual(split(8, [ended(9)]), [{ type: "too_large" }]);
  assert.deepEqual(split(8, [frame(9)]), [{ type: "too_large" }]);
  assert.deepEqual(split(8, [ended(1), ended(9)]), [{ type: "frame", text: "x" }, {
    type: "too_large",
  }]);
});

Deno.test("FrameSplitter refuses what is not UTF-8", () => {
  assert.deepEqual(split(8, [new Uint8Array([0xff, 0xfe, 10])]), [{ type: "malformed" }]);
  assert.deepEqual(split(8, [new Uint8Array([0xc3, 10])]), [{ type: "malformed" }]);
});

Deno.test("FrameSplitter says whether a frame has begun", () => {
  const splitter = new FrameSplitter(8);
  assert.equal(splitter.partial, false);
  splitter.push(new Uint8Array([120]));
  splitter.next();
  assert.equal(splitter.partial, true);
  splitter.push(new Uint8Array([10]));
  splitter.next();
  assert.equal(splitter.partial, false);
});
