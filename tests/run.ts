/**
 * `deno task test`: format, lint, type check, then every test. Prints each failing check in full,
 * names what was skipped and why and how many cases the corpora have, writes JUnit to
 * `build/junit.xml`, and ends with one line:
 * `N passed, N failed`. With FLUZO_TEST_NO_SKIP=1 a skipped test is a failure.
 */

import { REPORT_VARIABLE } from "./support/report_line.ts";

interface Count {
  passed: number;
  failed: number;
  readonly skipped: string[];
}

const JUNIT_PATH = "build/junit.xml";

/** Where tests write what belongs to the report: how many cases, what was not run. */
const REPORT_PATH = `${Deno.cwd()}/build/report.txt`;

const CHECKS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["format", ["fmt", "--check"]],
  ["lint", ["lint"]],
  ["types", ["check", "src", "tests", "scenarios", "docs", "mod.ts"]],
];

const count: Count = { passed: 0, failed: 0, skipped: [] };
for (const [name, args] of CHECKS) {
  const { success } = await deno(args, { show: "on_failure" });
  say(`${success ? "ok" : "FAILED"} ${name}`);
  if (success) count.passed++;
  else count.failed++;
}
await runTests(count);
for (const line of await reportLines()) say(line);
for (const name of count.skipped) say(`skipped: ${name}`);
if (count.skipped.length > 0 && Deno.env.get("FLUZO_TEST_NO_SKIP") === "1") {
  say(`FAILED: ${count.skipped.length} tests were skipped`);
  count.failed += count.skipped.length;
}
say(`${count.passed} passed, ${count.failed} failed`);
Deno.exit(count.failed === 0 ? 0 : 1);

async function runTests(total: Count): Promise<void> {
  await Deno.mkdir("build", { recursive: true });
  await Deno.writeTextFile(REPORT_PATH, "");
  const only = Deno.args.length === 0 ? ["tests"] : Deno.args;
  const { success } = await deno(
    ["test", "--allow-all", "--parallel", "--quiet", `--junit-path=${JUNIT_PATH}`, ...only],
    { show: "always", env: { [REPORT_VARIABLE]: REPORT_PATH } },
  );
  let report: string;
  try {
    report = await Deno.readTextFile(JUNIT_PATH);
  } catch (failure) {
    if (!(failure instanceof Deno.errors.NotFound)) throw failure;
    say("FAILED: the tests ended without a report");
    total.failed++;
    return;
  }
  const cases = report.match(/<testcase\b[\s\S]*?(?:\/>|<\/testcase>)/g) ?? [];
  let failed = 0;
  for (const testCase of cases) {
    if (/<skipped/.test(testCase)) total.skipped.push(nameOf(testCase));
    else if (/<(?:failure|error)\b/.test(testCase)) failed++;
    else total.passed++;
  }
  // A module that does not load, or a leak, fails the run without a failed case.
  total.failed += failed === 0 && !success ? 1 : failed;
}

async function reportLines(): Promise<readonly string[]> {
  const text = await Deno.readTextFile(REPORT_PATH);
  return [...new Set(text.split("\n").filter((line) => line !== ""))].sort();
}

function nameOf(testCase: string): string {
  const name = /\bname="([^"]*)"/.exec(testCase)?.[1] ?? "a test without a name";
  return name.replace(/&quot;/g, '"').replace(/&lt;/g, "<").replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
}

async function deno(
  args: readonly string[],
  { show, env = {} }: {
    readonly show: "always" | "on_failure";
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<{ readonly success: boolean }> {
  const piped = show === "on_failure";
  const output = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    env,
    stdin: "null",
    stdout: piped ? "piped" : "inherit",
    stderr: piped ? "piped" : "inherit",
  }).spawn().output();
  if (piped && !output.success) {
    await Deno.stderr.write(output.stdout);
    await Deno.stderr.write(output.stderr);
  }
  return { success: output.success };
}

function say(line: string): void {
  // deno-lint-ignore no-console -- the runner's own report
  console.log(line);
}
