import assert from "node:assert/strict";
import fc from "fast-check";
import {
  AssemblyError,
  CallAssembler,
} from "../../../../src/runtime/providers/chat_completions/assembler.ts";

type Fragment = Readonly<Record<string, unknown>>;

function assemble(
  fragments: readonly unknown[],
  used: readonly string[] = [],
): readonly string[] {
  const assembler = new CallAssembler(["read", "read_file", "ls"]);
  for (const fragment of fragments) assembler.push(fragment);
  return assembler.finish(new Set(used)).map(({ id, name, argumentsText, invalid }) =>
    `${id} ${name} ${argumentsText}${invalid === null ? "" : " INVALID"}`
  );
}

function fragment(changes: Fragment, body: Fragment = {}): readonly Fragment[] {
  return [{ ...changes, ...(Object.keys(body).length > 0 ? { function: body } : {}) }];
}

/** Each row: the fragments of one answer and the calls they make. */
const CASES: readonly (readonly [name: string, fragments: readonly unknown[], calls: string[]])[] =
  [
    ["normal form", [
      fragment({ index: 0, id: "c1", type: "function" }, { name: "read", arguments: "" }),
      fragment({ index: 0 }, { arguments: '{"path":' }),
      fragment({ index: 0 }, { arguments: '"a"}' }),
    ], ['c1 read {"path":"a"}']],
    ["no index, two ids", [
      fragment({ id: "c1" }, { name: "read", arguments: "{}" }),
      fragment({ id: "c2" }, { name: "ls", arguments: "{}" }),
    ], ["c1 read {}", "c2 ls {}"]],
    ["no index, fragments go to the open call", [
      fragment({ id: "c1" }, { name: "read", arguments: '{"a":' }),
      fragment({}, { arguments: "1}" }),
    ], ['c1 read {"a":1}']],
    ["a new id on a used index is a new call", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: "{}" }),
      fragment({ index: 0, id: "b" }, { name: "ls", arguments: "{" }),
      fragment({ index: 1 }, { arguments: "}" }),
    ], ["a read {}", "b ls {}"]],
    ["a known id wins over its index", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: '{"x":' }),
      fragment({ index: 1, id: "b" }, { name: "ls", arguments: "{}" }),
      fragment({ index: 1, id: "a" }, { arguments: "1}" }),
    ], ['a read {"x":1}', "b ls {}"]],
    ["the first index may be 1", [
      fragment({ index: 1, id: "c" }, { name: "read", arguments: "{}" }),
    ], ["c read {}"]],
    ["gaps in the index are normal", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: "{}" }),
      fragment({ index: 7, id: "b" }, { name: "ls", arguments: "{}" }),
    ], ["a read {}", "b ls {}"]],
    ["always index 0: arguments begin again behind complete ones", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: '{"p":1}' }),
      fragment({ index: 0, id: "b" }, { name: "read", arguments: '{"p":2}' }),
    ], ['a read {"p":1}', 'b read {"p":2}']],
    ["the id repeated on every fragment is not joined", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: '{"p":' }),
      fragment({ index: 0, id: "a" }, { arguments: "1}" }),
    ], ['a read {"p":1}']],
    ["the name repeated on every fragment is not joined", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: '{"p":' }),
      fragment({ index: 0 }, { name: "read", arguments: "1}" }),
    ], ['a read {"p":1}']],
    ["a null name is nothing", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: "{" }),
      fragment({ index: 0 }, { name: null, arguments: "}" }),
    ], ["a read {}"]],
    ["a cumulative name replaces", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: "" }),
      fragment({ index: 0 }, { name: "read_file", arguments: "{}" }),
    ], ["a read_file {}"]],
    ["a name in two pieces is joined before arguments", [
      fragment({ index: 0, id: "a" }, { name: "read_" }),
      fragment({ index: 0 }, { name: "file" }),
    ], ["a read_file {}"]],
    ["a missing function is nothing", [
      fragment({ index: 0, id: "a" }, { name: "read" }),
      fragment({ index: 0 }),
    ], ["a read {}"]],
    ["arguments as an object", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: { path: "a" } }),
    ], ['a read {"path":"a"}']],
    ["calls as an object", [
      { index: 0, id: "a", function: { name: "read", arguments: "{}" } },
    ], ["a read {}"]],
    ["a repeat of the whole arguments is dropped", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: '{"p":1}' }),
      fragment({ index: 0 }, { arguments: '{"p":1}' }),
    ], ['a read {"p":1}']],
    ["a repeat as a JSON string is dropped", [
      fragment({ index: 0, id: "a" }, { name: "read", arguments: '{"p":1}' }),
      fragment({ index: 0 }, { arguments: JSON.stringify('{"p":1}') }),
    ], ['a read {"p":1}']],
    ["empty arguments are an empty object", [
      fragment({ index: 0, id: "a" }, { name: "ls", arguments: "" }),
    ], ["a ls {}"]],
    ["arguments inside a JSON string are unwrapped once", [
      fragment({ index: 0, id: "a" }, { name: "ls", arguments: JSON.stringify('{"p":1}') }),
    ], ['a ls {"p":1}']],
    ["a trailing special token is cut", [
      fragment({ index: 0, id: "a" }, { name: "ls", arguments: '{"p":1}<|im_end|>' }),
    ], ['a ls {"p":1}']],
    ["two equal calls are two calls", [
      fragment({ index: 0, id: "a" }, { name: "ls", arguments: "{}" }),
      fragment({ index: 1, id: "b" }, { name: "ls", arguments: "{}" }),
    ], ["a ls {}", "b ls {}"]],
    ["a missing id is made", [
      fragment({ index: 0 }, { name: "ls", arguments: "{}" }),
      fragment({ index: 1, id: null }, { name: "ls", arguments: "{}" }),
    ], ["call_0 ls {}", "call_2 ls {}"]],
    ["not JSON", [
      fragment({ index: 0, id: "a" }, { name: "ls", arguments: "{p: 1}" }),
    ], ["a ls {} INVALID"]],
    ["not an object", [
      fragment({ index: 0, id: "a" }, { name: "ls", arguments: "[1]" }),
    ], ["a ls {} INVALID"]],
    ["an undeclared name", [
      fragment({ index: 0, id: "a" }, { name: "rm", arguments: "{}" }),
    ], ["a rm {} INVALID"]],
    ["null is nothing", [null, undefined, []], []],
  ];

for (const [name, fragments, calls] of CASES) {
  Deno.test(`CallAssembler: ${name}`, () => assert.deepEqual(assemble(fragments), calls));
}

Deno.test("CallAssembler renames an id that the conversation has", () => {
  const one = [fragment({ index: 0, id: "c1" }, { name: "ls", arguments: "{}" })];
  assert.deepEqual(assemble(one, ["c1"]), ["call_1 ls {}"]);
  const two = [
    fragment({ index: 0, id: "x" }, { name: "ls", arguments: "{}" }),
    fragment({ index: 1 }, { name: "ls", arguments: "{}" }),
  ];
  assert.deepEqual(assemble(two, ["call_2"]), ["x ls {}", "call_3 ls {}"]);
});

Deno.test("CallAssembler refuses what is no call, and bounds what is endless", () => {
  assert.throws(() => assemble(["text"]), AssemblyError);
  assert.throws(() => assemble([[1]]), AssemblyError);
  assert.throws(
    () => assemble([fragment({ index: 0 }, { name: "ls", arguments: 5 })]),
    AssemblyError,
  );
  const many = Array.from(
    { length: 100 },
    (_, index) => fragment({ index, id: `c${index}` }, { name: "ls", arguments: "{}" }),
  );
  assert.throws(() => assemble(many), /More than 64 tool calls/);
  const long = Array.from(
    { length: 6 },
    () => fragment({ index: 0 }, { arguments: "x".repeat(1 << 20) }),
  );
  assert.throws(
    () => assemble([fragment({ index: 0, id: "a" }, { name: "ls" }), ...long]),
    /longer/,
  );
});

Deno.test("CallAssembler gives the same calls wherever the arguments are cut", () => {
  const value = fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: "binary" }), fc.integer()));
  fc.assert(fc.property(value, value, fc.array(fc.nat(200)), (first, second, cuts) => {
    const texts = [JSON.stringify(first), JSON.stringify(second)];
    const whole = texts.map((text, index) =>
      fragment({ index, id: `c${index}` }, { name: "ls", arguments: text })
    );
    const pieces = texts.flatMap((text, index) => {
      const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
      const parts = [...places, text.length].map((end, i) => text.slice(places[i - 1] ?? 0, end));
      return [
        fragment({ index, id: `c${index}` }, { name: "ls" }),
        ...parts.map((part) => fragment({ index }, { arguments: part })),
      ];
    });
    assert.deepEqual(assemble(pieces), assemble(whole));
  }));
});
