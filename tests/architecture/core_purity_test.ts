import assert from "node:assert/strict";
import { sourceFiles } from "../support/module_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Type-checks files against ECMAScript alone: no Deno, no web platform, no timers. */
async function checkPure(
  folder: string,
): Promise<{ readonly success: boolean; readonly text: string }> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "check",
      "--quiet",
      "--no-lock",
      "--config",
      `${ROOT}tests/architecture/core.json`,
      ...sourceFiles(folder),
    ],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  return { success, text: new TextDecoder().decode(stderr) };
}

Deno.test("core uses nothing but ECMAScript", async () => {
  const { success, text } = await checkPure(`${ROOT}src/core`);
  assert.ok(success, text);
});

Deno.test("the purity prover finds planted uses of the platform", async () => {
  const { success, text } = await checkPure(
    `${ROOT}tests/architecture/fixtures/impure_core/src/core`,
  );
  assert.equal(success, false);
  for (
    const name of ["Deno", "console", "setTimeout", "TextEncoder", "AbortSignal", "performance"]
  ) {
    assert.match(text, new RegExp(`'${name}'`), name);
  }
});
