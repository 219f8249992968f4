import assert from "node:assert/strict";
import { loadScenario, type Scenario } from "../../scenarios/simulator/scenario.ts";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { TestFluzo } from "../support/fluzo.ts";
import type { TestFolder } from "../support/repository.ts";

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
  readonly task_id: string | null;
}

for (const name of NAMES) {
  Deno.test(`scenario ${name}`, async () => {
    const scenario = await loadScenario(new URL(name, FOLDER));
    using fluzo = new TestFluzo();
    makeRepository(fluzo.repository, scenario);
    await using simulator = startSimulator(scenario.steps);
    await fluzo.setUp(simulator.baseUrl, { config: scenario.config });
    const judge = name === "typescript_bug_fix.json" ? await judgeBugFix(fluzo.repository) : null;
    const run = await fluzo.run("run", scenario.goal, "--output", "json", ...scenario.arguments);
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
    assert.equal(fluzo.repository.exists("PWNED"), false, "something that must not run has run");
    const shown = await fluzo.must("task", "show", result.task_id ?? "", "--output", "json");
    assert.equal(JSON.parse(shown.stdout).task.state, outcome.status);
    await judge?.(result);
  });
}

function makeRepository(folder: TestFolder, { fixture }: Scenario): void {
  if (fixture === null) {
    folder.commit({ "a.txt": "one\n", "b.txt": "two\n" });
    return;
  }
  folder.commit(filesOf(new URL(`fixtures/${fixture}/`, FOLDER)));
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

/**
 * Judges the bug fix by its own means: the tests fail before and pass after, the tests themselves
 * are untouched, and exactly one source file differs from the commit.
 */
async function judgeBugFix(folder: TestFolder): Promise<(result: Result) => Promise<void>> {
  const testsBefore = folder.read("tests/slug_test.ts");
  const before = await runTests(folder);
  assert.equal(before.success, false, "the fixture must fail before the fix");
  assert.match(before.output, /rock-roll-live/);
  return async (result) => {
    const after = await runTests(folder);
    assert.equal(after.success, true, after.output);
    assert.equal(folder.read("tests/slug_test.ts"), testsBefore);
    const changed = folder.git("status", "--porcelain", "--untracked-files=all").trim().split("\n");
    assert.deepEqual(changed.map((line) => line.trim()), ["M src/slug.ts", "?? .fluzo"]);
    assert.match(result.diff ?? "", /-\s+\.replace\(\/\[\^a-z0-9\]\/g/);
    assert.match(result.diff ?? "", /\+\s+\.replace\(\/\[\^a-z0-9\]\+\/g/);
  };
}

async function runTests(
  folder: TestFolder,
): Promise<{ readonly success: boolean; readonly output: string }> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-check"],
    cwd: folder.path,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { success, output: decoder.decode(stdout) + decoder.decode(stderr) };
}
