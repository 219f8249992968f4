import assert from "node:assert/strict";
import { decide, type PolicySettings } from "../../../src/core/policy/decide.ts";
import { type Decision, DECISIONS, stricter } from "../../../src/core/policy/decision.ts";
import type { Grant } from "../../../src/core/policy/grant.ts";
import { approvalKey, type OperationScope, scopeKey } from "../../../src/core/policy/scope.ts";
import { parseDigest } from "../../../src/core/digest.ts";
import { countingIds } from "../../support/ids.ts";

const ids = countingIds();
const version = parseDigest("a".repeat(64)) ?? "absent";
const SETTINGS: PolicySettings = { edit: "allow", shell: "ask", gitCommit: "ask", gitPush: "deny" };

function command(changes: Partial<Extract<OperationScope, { type: "command" }>> = {}) {
  return {
    type: "command",
    mode: "direct",
    argv: ["deno", "test"],
    cwd: ".",
    env: [],
    git: "none",
    binding: "b",
    ...changes,
  } as const;
}

function file(changes: Partial<Extract<OperationScope, { type: "file" }>> = {}) {
  return {
    type: "file",
    action: "edit",
    path: "a.ts",
    to: null,
    version,
    userChange: "none",
    knownVersion: true,
    ...changes,
  } as const;
}

function grantFor(scope: OperationScope, changes: Partial<Grant> = {}): Grant {
  return {
    id: ids.next("grant"),
    key: scopeKey(scope),
    covers: "scope",
    source: "command_line",
    lifetime: "task",
    state: "active",
    ...changes,
  };
}

function decision(
  scope: OperationScope,
  { grants = [], yolo = false, settings = SETTINGS }: {
    readonly grants?: readonly Grant[];
    readonly yolo?: boolean;
    readonly settings?: PolicySettings;
  } = {},
): Decision {
  return decide({ scope, settings, grants, yolo }).decision;
}

Deno.test("stricter() orders allow, ask, deny", () => {
  for (const [i, a] of DECISIONS.entries()) {
    for (const [j, b] of DECISIONS.entries()) {
      assert.equal(stricter(a, b), DECISIONS[Math.max(i, j)]);
    }
  }
});

Deno.test("decide() allows to look, and edits of files the user had not changed", () => {
  assert.equal(decision({ type: "inspect", tool: "read", path: "a" }), "allow");
  assert.equal(decision({ type: "git_inspect", what: "status" }), "allow");
  assert.equal(decision(file()), "allow");
});

Deno.test("decide() asks before a file with changes of the user, whichever kind", () => {
  for (const userChange of ["staged", "modified", "untracked", "conflicted"] as const) {
    assert.equal(decision(file({ userChange })), "ask", userChange);
  }
});

Deno.test("decide() lets a touch grant cover edits of that path only", () => {
  const touch = grantFor(file(), { covers: "touch", key: "a.ts" });
  const changed = file({ userChange: "modified" });
  assert.equal(decision(changed, { grants: [touch] }), "allow");
  assert.equal(decision({ ...changed, path: "b.ts" }, { grants: [touch] }), "ask");
  assert.equal(decision({ ...changed, path: "a.ts/x" }, { grants: [touch] }), "ask");
  assert.equal(
    decision({ ...changed, action: "rename", to: "c.ts" }, { grants: [touch] }),
    "ask",
    "a rename loses the name, which an edit does not",
  );
  assert.equal(
    decision({ ...changed, knownVersion: false }, { grants: [touch] }),
    "ask",
    "somebody else changed the file since the permission was given",
  );
});

Deno.test("decide() lets a command grant cover exactly one command", () => {
  const grants = [grantFor(command())];
  assert.equal(decision(command(), { grants }), "allow");
  for (
    const [name, other] of Object.entries({
      "one more argument": command({ argv: ["deno", "test", "-A"] }),
      "one argument less": command({ argv: ["deno"] }),
      "arguments joined": command({ argv: ["deno test"] }),
      "another folder": command({ cwd: "sub" }),
      "an environment": command({ env: [["A", "1"]] }),
      "a shell": command({ mode: "shell" }),
      "chained": command({ argv: ["deno", "test", ";", "rm", "x"] }),
    })
  ) assert.equal(decision(other, { grants }), "ask", name);
});

Deno.test("decide() binds the answer to an approval to everything it was asked with", () => {
  const answered = (scope: OperationScope): Grant =>
    grantFor(scope, {
      covers: "exact",
      key: approvalKey(scope),
      source: "approval",
      lifetime: "once",
    });
  const grants = [answered(command())];
  assert.equal(decision(command(), { grants }), "allow");
  assert.equal(decision(command({ binding: "another program" }), { grants }), "ask");
  assert.equal(decision(command({ argv: ["deno", "test", "x"] }), { grants }), "ask");
  const changed = file({ userChange: "modified" });
  assert.equal(decision(changed, { grants: [answered(changed)] }), "allow");
  const other = parseDigest("b".repeat(64)) ?? "absent";
  assert.equal(decision({ ...changed, version: other }, { grants: [answered(changed)] }), "ask");
});

Deno.test("decide() uses a grant that lasts before one that would be used up", () => {
  const once = grantFor(command(), { lifetime: "once" });
  const lasting = grantFor(command());
  const { grant } = decide({
    scope: command(),
    settings: SETTINGS,
    grants: [once, lasting],
    yolo: false,
  });
  assert.equal(grant, lasting);
});

Deno.test("decide() ignores grants that are used, revoked or over", () => {
  for (const state of ["consumed", "revoked", "expired"] as const) {
    assert.equal(decision(command(), { grants: [grantFor(command(), { state })] }), "ask", state);
  }
});

Deno.test("decide() lets a denial beat grants and YOLO", () => {
  const settings = { ...SETTINGS, shell: "deny" } as const;
  assert.equal(
    decision(command(), { grants: [grantFor(command())], yolo: true, settings }),
    "deny",
  );
  const push = command({ argv: ["git", "push"], git: "push" });
  assert.equal(decision(push, { grants: [grantFor(push)], yolo: true }), "deny");
});

Deno.test("decide() applies the strictest of several rules", () => {
  const settings: PolicySettings = { ...SETTINGS, shell: "allow", gitCommit: "ask" };
  assert.equal(decision(command(), { settings }), "allow");
  assert.equal(decision(command({ git: "commit" }), { settings }), "ask");
});

Deno.test("decide() shows YOLO as YOLO in the evidence, not as a grant", () => {
  const evaluation = decide({ scope: command(), settings: SETTINGS, grants: [], yolo: true });
  assert.equal(evaluation.decision, "allow");
  assert.equal(evaluation.grant, null);
  assert.deepEqual(evaluation.evidence, [
    { type: "setting", key: "policy.shell", decision: "ask" },
    { type: "yolo", decision: "allow" },
  ]);
});

Deno.test("decide() names the grant it used, before YOLO", () => {
  const grant = grantFor(command(), { lifetime: "once" });
  const evaluation = decide({ scope: command(), settings: SETTINGS, grants: [grant], yolo: true });
  assert.equal(evaluation.grant, grant);
});
