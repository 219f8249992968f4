import assert from "node:assert/strict";
import { parseArguments, toJsonSchema } from "../../../src/runtime/tools/parameters.ts";

const FIELDS = {
  path: { type: "string", text: "File" },
  lines: { type: "integer", text: "How many", minimum: 1, maximum: 10, optional: true },
  all: { type: "boolean", text: "Every one", optional: true },
  command: { type: "strings", text: "Words", optional: true },
  view: { type: "choice", text: "What", options: ["a", "b"], optional: true },
} as const;

Deno.test("parseArguments() gives null for what is left out or null", () => {
  assert.deepEqual(parseArguments(FIELDS, { path: "a", lines: null }), {
    ok: true,
    value: { path: "a", lines: null, all: null, command: null, view: null },
  });
});

Deno.test("parseArguments() takes numbers and booleans written as strings", () => {
  const parsed = parseArguments(FIELDS, { path: "a", lines: "3", all: "true" });
  assert.ok(parsed.ok);
  assert.equal(parsed.value.lines, 3);
  assert.equal(parsed.value.all, true);
});

Deno.test("parseArguments() names the argument and what is wrong with it", () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [null, /one JSON object/],
    [[], /one JSON object/],
    ["x", /one JSON object/],
    [{}, /Missing argument "path": File/],
    [{ path: 1 }, /"path": expected a string/],
    [{ path: "a", lines: 0 }, /"lines": expected 1 to 10/],
    [{ path: "a", lines: 1.5 }, /"lines": expected a whole number/],
    [{ path: "a", all: "yes" }, /"all": expected true or false/],
    [{ path: "a", command: "deno test" }, /"command": expected an array/],
    [{ path: "a", command: [1] }, /"command": expected an array/],
    [{ path: "a", view: "c" }, /"view": expected one of a, b/],
    [{ path: "a", file: "b" }, /Unknown argument "file": this tool takes path, lines/],
    [{ path: "a", __proto__: { x: 1 }, constructor: 1 }, /Unknown argument "constructor"/],
  ];
  for (const [value, expected] of cases) {
    const parsed = parseArguments(FIELDS, value);
    assert.equal(parsed.ok, false);
    if (!parsed.ok) assert.match(parsed.error, expected);
  }
});

Deno.test("toJsonSchema() requires what is not optional and closes the object", () => {
  const schema = toJsonSchema(FIELDS);
  assert.deepEqual(schema["required"], ["path"]);
  assert.equal(schema["additionalProperties"], false);
});
