import assert from "node:assert/strict";
import fc from "fast-check";
import { formatCommand, parseCommandLine } from "../../../src/core/policy/command_scope.ts";

Deno.test("parseCommandLine() reads words and quotes as a shell does", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["deno test", ["deno", "test"]],
    ["  deno\ttest  ", ["deno", "test"]],
    ["git commit -m 'a b'", ["git", "commit", "-m", "a b"]],
    ['echo "a \\"b\\" \\\\ c"', ["echo", 'a "b" \\ c']],
    ["echo a\\ b ''", ["echo", "a b", ""]],
    ["echo 'a;b|c&d$e`f'", ["echo", "a;b|c&d$e`f"]],
    ["echo a'b'\"c\"", ["echo", "abc"]],
    ["cargo test -- --nocapture", ["cargo", "test", "--", "--nocapture"]],
    ["x --a=b", ["x", "--a=b"]],
    ["echo $'a\\nb\\x1b\\U0000202e'", ["echo", "a\nb\x1b\u202e"]],
  ];
  for (const [line, argv] of cases) {
    assert.deepEqual(parseCommandLine(line), { ok: true, value: argv }, line);
  }
});

Deno.test("parseCommandLine() refuses what a shell would act on, and names it", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["git status && rm -rf x", /"&"/],
    ["a | b", /"\|"/],
    ["a; b", /";"/],
    ["a\nb", /"\\n"/],
    ["a > b", /">"/],
    ["a < b", /"<"/],
    ["a $(b)", /"\$"/],
    ["a `b`", /"`"/],
    ["a (b)", /"\("/],
    ["ls *.ts", /"\*"/],
    ["ls a?", /"\?"/],
    ["ls [ab]", /"\["/],
    ["ls {a,b}", /"\{"/],
    ["ls ~", /"~"/],
    ["X=1 git status", /assignment: "X=1"/],
    ['echo "$HOME"', /double quotes/],
    ['echo "`x`"', /double quotes/],
    ["echo 'a", /not closed/],
    ['echo "a', /not closed/],
    ["echo a\\", /backslash/],
    ["", /empty/],
    ["   ", /empty/],
    ["''", /empty/],
  ];
  for (const [line, expected] of cases) {
    const parsed = parseCommandLine(line);
    assert.equal(parsed.ok, false, line);
    if (!parsed.ok) assert.match(parsed.error, expected, line);
  }
});

Deno.test("formatCommand() shows control and bidirectional characters", () => {
  assert.equal(formatCommand(["echo", "a\u202eb\n"]), "echo $'a\\U0000202eb\\n'");
});

Deno.test("parseCommandLine() reads back every vector that formatCommand() shows", () => {
  const word = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "'", '"', "\\", "$x", "A=1", "a b", "\u202e", "\ud800", "\n'\\x41", "*"),
  );
  const argv = fc.array(word, { minLength: 1, maxLength: 5 }).filter((words) =>
    words[0] !== "" && !/^[A-Za-z_][A-Za-z0-9_]*=/.test(words[0] ?? "")
  );
  fc.assert(fc.property(argv, (words) => {
    assert.deepEqual(parseCommandLine(formatCommand(words)), { ok: true, value: words });
  }));
});
