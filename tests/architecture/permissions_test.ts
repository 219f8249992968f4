import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import {
  buildCommands,
  BUNDLES,
  installCommand,
  permissionFlags,
} from "../../src/cli/permissions.ts";
import { workerModule } from "../../src/runtime/worker_module.ts";

function shell(words: readonly string[]): string {
  return words.map((word) => /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word}'`).join(" ");
}

Deno.test("every task runs with exactly the permissions that are spelled out once", () => {
  const flags = permissionFlags();
  assert.equal(
    config.tasks.dev.command,
    `FLUZO_DEV=1 ${shell(["deno", "run", ...flags, "src/cli/main.ts"])}`,
  );
  assert.equal(config.tasks.build.command, buildCommands().map(shell).join(" && "));
  assert.equal(config.tasks.install.command, `deno task build && ${shell(installCommand())}`);
  assert.equal(
    config.tasks.compile.command,
    shell(["deno", "compile", ...flags, "--output=build/fluzo", "src/cli/main.ts"]),
  );
});

Deno.test("no permission is wider than it must be", () => {
  const flags = permissionFlags();
  assert.ok(flags.includes("--no-prompt"));
  for (
    const flag of ["--allow-all", "-A", "--allow-net", "--allow-env", "--allow-sys", "--allow-ffi"]
  ) {
    assert.ok(!flags.includes(flag), flag);
  }
  const hosts = flags.find((flag) => flag.startsWith("--allow-net="));
  assert.equal(hosts, "--allow-net=127.0.0.1,localhost,[::1]");
});

Deno.test("the bundles are the workers' modules under the names that are looked for", () => {
  for (const [output, source] of Object.entries(BUNDLES)) {
    assert.ok(Deno.statSync(new URL(`../../${source}`, import.meta.url)).isFile);
    if (output === "build/fluzo.js") continue;
    const name = source.slice(source.lastIndexOf("/") + 1, -".ts".length);
    assert.equal(
      workerModule(name, "file:///x/build/fluzo.js").pathname,
      `/x/${output}`,
    );
    const folder = source.slice(0, source.lastIndexOf("/"));
    assert.equal(workerModule(name, `file:///x/${folder}/client.ts`).pathname, `/x/${source}`);
  }
});
