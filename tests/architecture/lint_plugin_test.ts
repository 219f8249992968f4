import assert from "node:assert/strict";
import plugin from "./lint_plugin.ts";

function found(filename: string, source: string): readonly string[] {
  return Deno.lint.runPlugin(plugin, filename, source).map(({ id }) => id);
}

const CASES: readonly (readonly [file: string, source: string, rule: string | null])[] = [
  ["/p/src/core/a.ts", "const t = Date.now();", "fluzo/pure-core"],
  ["/p/src/core/a.ts", "const t = new Date();", "fluzo/pure-core"],
  ["/p/src/core/a.ts", "const t = new Date(5);", "fluzo/pure-core"],
  ["/p/src/core/a.ts", "const t = Math.random();", "fluzo/pure-core"],
  ["/p/src/core/a.ts", "const t = crypto.randomUUID();", "fluzo/pure-core"],
  ["/p/src/core/a.ts", "const t = performance.now();", "fluzo/pure-core"],
  ["/p/src/core/a.ts", "const t = Math.max(1, 2);", null],
  ["/p/src/runtime/a.ts", "const t = Date.now();", null],
  ["/p/src/runtime/a.ts", 'Deno.dlopen("x", {});', "fluzo/one-ffi"],
  ["/p/src/runtime/linux/libc.ts", 'Deno.dlopen("x", {});', null],
  ["/p/src/runtime/a.ts", "Deno.stdout.writeSync(x);", "fluzo/one-writer"],
  ["/p/src/cli/commands/a.ts", "console.log(1);", "fluzo/one-writer"],
  ["/p/src/cli/composition.ts", "f(Deno.stdout);", null],
  ["/p/tests/a.ts", "f(Deno.stdout);", null],
  ["/p/src/a.ts", 'throw new TypeError("Cannot do it.");', "fluzo/error-grammar"],
  ["/p/src/a.ts", 'throw new Error("cannot do it");', "fluzo/error-grammar"],
  ["/p/src/a.ts", 'throw new Error("Cannot do it: reason");', null],
];

for (const [file, source, rule] of CASES) {
  Deno.test(`lint plugin ${rule ?? "allows"}: ${source} in ${file}`, () => {
    assert.deepEqual(found(file, source), rule === null ? [] : [rule]);
  });
}
