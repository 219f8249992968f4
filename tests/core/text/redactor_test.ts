import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { createRedactor, MIN_SECRET_LENGTH, REDACTED } from "../../../src/core/text/redactor.ts";

const SECRET = 'sk-Sentinel"1/9+x';
const PROPERTY_RUNS = 500;

function streamed(secrets: readonly string[], pieces: readonly string[]): string {
  const stream = createRedactor(secrets).stream();
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

Deno.test("redact() finds a secret in each form in which it is repeated", () => {
  const { redact } = createRedactor([SECRET]);
  const forms = [
    SECRET,
    JSON.stringify({ key: SECRET }),
    `https://x/?k=${encodeURIComponent(SECRET)}`,
    ...["", "a", "ab"].map((before) => Buffer.from(`${before}${SECRET} tail`).toString("base64")),
    Buffer.from(`Bearer ${SECRET}`).toString("base64url"),
  ];
  for (const text of forms) assert.match(redact(`<${text}>`), /\[redacted\]/, text);
});

Deno.test("redact() leaves text without secrets alone", () => {
  assert.equal(createRedactor([SECRET]).redact("nothing here"), "nothing here");
  assert.equal(createRedactor([]).redact(SECRET), SECRET);
});

Deno.test("redact() does not look for secrets that are too short to tell apart", () => {
  const short = "x".repeat(MIN_SECRET_LENGTH - 1);
  assert.equal(createRedactor([short]).redact(`a ${short} b`), `a ${short} b`);
});

Deno.test("redact() replaces the longer of two secrets that begin alike", () => {
  const { redact } = createRedactor(["abcdef", "abcdefghi"]);
  assert.equal(redact("abcdefghi abcdef"), `${REDACTED} ${REDACTED}`);
});

Deno.test("foundIn() tells whether a text holds a secret", () => {
  const { foundIn } = createRedactor([SECRET]);
  assert.equal(foundIn(`a${SECRET}b`), true);
  assert.equal(foundIn("ab"), false);
});

Deno.test("stream() finds a secret cut at every place", () => {
  const text = `before ${SECRET} after`;
  for (let cut = 0; cut <= text.length; cut++) {
    assert.equal(
      streamed([SECRET], [text.slice(0, cut), text.slice(cut)]),
      `before ${REDACTED} after`,
    );
  }
  assert.equal(streamed([SECRET], [...text]), `before ${REDACTED} after`);
});

Deno.test("stream() passes on at once what cannot be the beginning of a secret", () => {
  const stream = createRedactor([SECRET]).stream();
  assert.equal(stream.push("hello "), "hello ");
  assert.equal(stream.push("sk"), "");
  assert.equal(stream.push("ip"), "skip");
});

Deno.test("stream() equals redact() for every cut of random text", () => {
  const secrets = ["aabaab", "baabaa", "abcabcabc", "bcabca"];
  const pieces = fc.array(
    fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }).map((p) => p.join("")),
    { maxLength: 10 },
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      const whole = parts.join("");
      const out = streamed(secrets, parts);
      assert.equal(out, createRedactor(secrets).redact(whole));
    }),
    { numRuns: PROPERTY_RUNS },
  );
});
