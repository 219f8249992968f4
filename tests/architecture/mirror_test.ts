import assert from "node:assert/strict";
import { sourceFiles } from "../support/module_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * Tests of a whole folder or of several files together, by the folder they mirror. A corpus is a
 * folder of its own there.
 */
function mirrors(test: string): boolean {
  const source = `${ROOT}src/${test.replace(/\/\w+_corpus\//, "/")}`;
  if (exists(source.replace(/_test\.ts$/, ".ts"))) return true;
  return exists(source.slice(0, source.lastIndexOf("/")));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

Deno.test("every test stands where its subject stands", () => {
  for (const layer of ["core", "runtime", "cli"]) {
    if (!exists(`${ROOT}tests/${layer}`)) continue;
    for (const file of sourceFiles(`${ROOT}tests/${layer}`)) {
      const name = file.slice(`${ROOT}tests/`.length);
      if (!name.endsWith("_test.ts")) continue;
      assert.ok(mirrors(name), `${name} mirrors nothing`);
    }
  }
});
