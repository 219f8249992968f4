import assert from "node:assert/strict";
import { loadScenario, type Scenario } from "../../scenarios/simulator/scenario.ts";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { type FluzoRun, TestFluzo } from "../support/fluzo.ts";
import { testWith } from "../support/tools.ts";
import type { TestFolder } from "../support/repository.ts";
import { reportLine } from "../support/report_line.ts";

const FOLDER = new URL("../../scenarios/", import.meta.url);
const NAMES = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
  .filter((name) => name.endsWith(".json")).sort();

/** What a finished run says of itself. */
interface Result {
  readonly status: string;
  readonly exit: { readonly code: number };
  readonly answer?: string;
  readonly verification?: { readonly status: string };
  readonly changes?: readonly { readonly path: string }[];
  readonly denials?: readonly unknown[];
  readonly diff?: string;
  readonly consumption?: { readonly tokens: number; readonly estimatedTokens: number };
  readonly task_id: string | null;
}

for (const name of NAMES) {
  const scenario = await loadScenario(new URL(name, FOLDER));
  testWith(scenario.needs ?? "git", `scenario ${name}`, async () => {
    using fluzo = new TestFluzo();
    makeRepository(fluzo.repository, scenario);
    await using simulator = startSimulator(scenario.steps);
    await fluzo.setUp(simulator.baseUrl, { config: scenario.config });
    const repair = REPAIRS[name];
    const judge = repair === undefined ? null : await judgeRepair(fluzo.repository, repair);
    for (const { goal } of scenario.earlier) await fluzo.must("run", goal);
    const args = ["run", scenario.goal, "--output", "json", ...scenario.arguments];
    const run = scenario.interrupt
      ? await interrupted(fluzo, args, simulator.hanging)
      : await fluzo.run(...args);
    simulator.verify();
    const { outcome } = scenario;
    assert.equal(run.code, outcome.exit, run.stderr);
    const result: Result = JSON.parse(run.stdout);
    assert.equal(result.exit.code, outcome.exit);
    assert.equal(result.status, outcome.status);
    if (outcome.verification !== undefined) {
      assert.equal(result.verification?.status, outcome.verification);
    }
    assert.equal(result.denials?.length ?? 0, outcome.denials);
    assert.deepEqual(result.changes?.map(({ path }) => path) ?? [], outcome.changes);
    for (const pattern of outcome.answer) {
      assert.match(result.answer ?? "", new RegExp(pattern, "s"));
    }
    for (const [path, content] of Object.entries(outcome.files)) {
      assert.equal(fluzo.repository.read(path), content);
    }
    assert.equal(fluzo.repository.exists("PWNED"), false, "something that must not run has run");
    const shown = await fluzo.must("task", "show", result.task_id ?? "", "--output", "json");
    assert.equal(JSON.parse(shown.stdout).task.state, outcome.status);
    await judge?.(result);
  });
}

reportLine(`scenarios: ${NAMES.length} cases`);

/** Runs the program and sends it a SIGINT once the server hangs. */
async function interrupted(
  fluzo: TestFluzo,
  args: readonly string[],
  hanging: Promise<void>,
): Promise<FluzoRun> {
  const child = fluzo.command(args).spawn();
  const output = child.output();
  await Promise.race([hanging, output]);
  child.kill("SIGINT");
  const { code, stdout, stderr } = await output;
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

function makeRepository(folder: TestFolder, { fixture, files, git }: Scenario): void {
  const all = fixture === null ? files : filesOf(new URL(`fixtures/${fixture}/`, FOLDER));
  if (git === "commits") {
    folder.commit(all);
    return;
  }
  for (const [name, content] of Object.entries(all)) folder.write(name, content);
  if (git === "unborn") folder.git("init", "-q", "-b", "main");
}

function filesOf(folder: URL, prefix = ""): Record<string, string> {
  const files: Record<string, string> = {};
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) {
      Object.assign(files, filesOf(new URL(`${name}/`, folder), `${prefix}${name}/`));
    } else files[`${prefix}${name}`] = Deno.readTextFileSync(new URL(name, folder));
  }
  return files;
}

/** What a repair must have done, judged by means of its own. */
interface Repair {
  readonly test: readonly string[];
  /** What the failing test prints. */
  readonly failure: RegExp;
  readonly testFile: string;
  readonly sourceFile: string;
  readonly diff: readonly RegExp[];
}

const REPAIRS: Readonly<Record<string, Repair>> = {
  "typescript_bug_fix.json": {
    test: ["deno", "test", "--no-check"],
    failure: /rock-roll-live/,
    testFile: "tests/slug_test.ts",
    sourceFile: "src/slug.ts",
    diff: [/-\s+\.replace\(\/\[\^a-z0-9\]\/g/, /\+\s+\.replace\(\/\[\^a-z0-9\]\+\/g/],
  },
  "rust_bug_fix.json": {
    test: ["cargo", "test", "--offline", "--quiet"],
    failure: /keeps_the_end_of_a_range_that_contains_another/,
    testFile: "tests/merge.rs",
    sourceFile: "src/lib.rs",
    diff: [/-.*last\.1 = end,/, /\+.*last\.1 = last\.1\.max\(end\),/],
  },
};

/**
 * Judges a repair by its own means: the tests fail before and pass after, the tests themselves are
 * untouched, and exactly one source file differs from the commit.
 */
async function judgeRepair(
  folder: TestFolder,
  repair: Repair,
): Promise<(result: Result) => Promise<void>> {
  const testsBefore = folder.read(repair.testFile);
  const before = await runTests(folder, repair);
  assert.equal(before.success, false, "the fixture must fail before the fix");
  assert.match(before.output, repair.failure);
  return async (result) => {
    const after = await runTests(folder, repair);
    assert.equal(after.success, true, after.output);
    assert.equal(folder.read(repair.testFile), testsBefore);
    const changed = folder.git("status", "--porcelain", "--untracked-files=all").trim().split("\n");
    assert.deepEqual(changed.map((line) => line.trim()), [`M ${repair.sourceFile}`, "?? .fluzo"]);
    for (const pattern of repair.diff) assert.match(result.diff ?? "", pattern);
  };
}

async function runTests(
  folder: TestFolder,
  { test }: Repair,
): Promise<{ readonly success: boolean; readonly output: string }> {
  const [program = "", ...args] = test;
  const { success, stdout, stderr } = await new Deno.Command(
    program === "deno" ? Deno.execPath() : program,
    { args, cwd: folder.path, env: { NO_COLOR: "1" }, stdin: "null" },
  ).output();
  const decoder = new TextDecoder();
  return { success, output: decoder.decode(stdout) + decoder.decode(stderr) };
}
