import assert from "node:assert/strict";
import { gitActionOf } from "../../../src/core/policy/git_command.ts";

Deno.test("gitActionOf() recognises commit and push however they are wrapped", () => {
  const cases: readonly (readonly [string, readonly string[], "none" | "commit" | "push"])[] = [
    ["plain", ["git", "commit", "-m", "x"], "commit"],
    ["path", ["/usr/bin/git", "push"], "push"],
    ["options first", ["git", "-C", "sub", "-c", "a=b", "commit"], "commit"],
    ["env wrapper", ["env", "A=1", "git", "push"], "push"],
    ["shell script", ["/bin/sh", "-c", "cd x && git commit -am y"], "commit"],
    ["both", ["/bin/sh", "-c", "git commit -am y; git push"], "push"],
    ["substitution", ["/bin/sh", "-c", "echo $(git push)"], "push"],
    ["quoted", ["/bin/sh", "-c", "'git' \"push\""], "push"],
    ["other git", ["git", "status"], "none"],
    ["other program", ["deno", "test"], "none"],
    ["a word only", ["echo", "commit"], "none"],
  ];
  for (const [name, argv, expected] of cases) assert.equal(gitActionOf(argv), expected, name);
});
