import assert from "node:assert/strict";
import { buildCommands, installCommand } from "../../src/cli/permissions.ts";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { TestFluzo } from "../support/fluzo.ts";
import { calls, says } from "../support/simulated.ts";
import { TestFolder } from "../support/repository.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

async function must(command: readonly string[], options: Deno.CommandOptions): Promise<string> {
  const [name = "", ...args] = command;
  const output = await new Deno.Command(name === "deno" ? Deno.execPath() : name, {
    args,
    stdin: "null",
    ...options,
  }).output();
  const text = new TextDecoder().decode(output.stdout) + new TextDecoder().decode(output.stderr);
  assert.ok(output.success, `${command.join(" ")}:\n${text}`);
  return text;
}

Deno.test("the generated install command gives a fluzo that works from a folder of any repository", async () => {
  const lock = Deno.readTextFileSync(`${ROOT}deno.lock`);
  for (const command of buildCommands()) await must(command, { cwd: ROOT });
  using prefix = new TestFolder("fluzo-install-");
  await must(installCommand(), { cwd: ROOT, env: { DENO_INSTALL_ROOT: prefix.path } });
  assert.equal(Deno.readTextFileSync(`${ROOT}deno.lock`), lock, "installing changed the lock");
  const program = `${prefix.path}/bin/fluzo`;
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "sub/deep/a.txt": "one\n" });
  await using simulator = startSimulator([
    calls("read", { path: "sub/deep/a.txt" }),
    says("It says one."),
  ]);
  const path = Deno.execPath();
  const options = {
    cwd: `${fluzo.repository.path}/sub/deep`,
    env: {
      HOME: fluzo.home.path,
      PATH: `${path.slice(0, path.lastIndexOf("/"))}:${Deno.env.get("PATH")}`,
      XDG_STATE_HOME: "",
      XDG_CONFIG_HOME: "",
    },
  };
  await must([program, "init", "--base-url", simulator.baseUrl, "--model", "m", "--yes"], options);
  await must([program, "consent", "grant"], options);
  const run = await must([program, "run", "what does a.txt say"], options);
  simulator.verify();
  assert.match(run, /It says one\./);
  assert.equal(fluzo.repository.exists(".fluzo"), true, "the configuration is at the root");
  const doctor = await must([program, "doctor"], options);
  assert.doesNotMatch(doctor, /PROBLEM/);
  const shim = Deno.readTextFileSync(program);
  assert.doesNotMatch(shim, /--allow-all|--allow-net(?!=)|--allow-env(?!=)/);
});
