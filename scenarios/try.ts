/**
 * `deno task try`: the whole job in a throwaway repository. A real Fluzo, a real journal and real
 * tests; only the model is scripted. The folder is kept, so that it can be looked at afterwards.
 */
import { permissionFlags } from "../src/cli/permissions.ts";
import { loadScenario } from "./simulator/scenario.ts";
import { startSimulator } from "./simulator/simulator.ts";

const HERE = new URL("./", import.meta.url);
const MAIN = new URL("../src/cli/main.ts", import.meta.url).pathname;
const CONFIG = new URL("../deno.json", import.meta.url).pathname;

const scenario = await loadScenario(new URL("typescript_bug_fix.json", HERE));
const folder = await Deno.makeTempDir({ prefix: "fluzo-try-" });
const repository = `${folder}/repository`;
const home = `${folder}/home`;
await copyFolder(new URL(`fixtures/${scenario.fixture}/`, HERE), repository);
await Deno.mkdir(home);

say(`A repository with a failing test: ${repository}`);
await git("init", "-q", "-b", "main");
await git("add", "-A");
await git(
  "-c",
  "user.name=Try",
  "-c",
  "user.email=try@example.invalid",
  "commit",
  "-q",
  "-m",
  "first",
);
await using simulator = startSimulator(scenario.steps);
say(`A scripted model server: ${simulator.baseUrl}`);

step("fluzo init");
await fluzo("init", "--base-url", simulator.baseUrl, "--model", "scripted", "--yes");
step("fluzo consent grant");
await fluzo("consent", "grant");
step(`fluzo run ${JSON.stringify(scenario.goal)} ${scenario.arguments.join(" ")}`);
const code = await fluzo("run", scenario.goal, ...scenario.arguments);
simulator.verify();
step("Look at it again");
const dev = `npx -y deno@2.9.6 task --quiet --config ${quote(CONFIG)} dev`;
const task = await newestTask();
say(`cd ${quote(repository)}`);
say(`${dev} task show ${task}`);
say(`${dev} task diff ${task}`);
say("git diff");
Deno.exit(code);

async function fluzo(...args: string[]): Promise<number> {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...permissionFlags(), MAIN, ...args],
    cwd: repository,
    env: { HOME: home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (code !== 0 && args[0] !== "run") throw new Error(`fluzo ${args[0]} ended with ${code}`);
  return code;
}

async function newestTask(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...permissionFlags(), MAIN, "task", "list", "--output", "json"],
    cwd: repository,
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).tasks[0].id;
}

async function git(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("git", { args, cwd: repository }).output();
  if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}

async function copyFolder(from: URL, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(new URL(`${name}/`, from), `${to}/${name}`);
    else await Deno.copyFile(new URL(name, from), `${to}/${name}`);
  }
}

function step(text: string): void {
  say(`\n== ${text}`);
}

function say(text: string): void {
  // deno-lint-ignore no-console -- this script is for a person at a terminal
  console.log(text);
}

function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
