import assert from "node:assert/strict";
import type {
  ControlReason,
  FluzoError,
  ProviderReason,
  StorageReason,
  WorkspaceReason,
} from "../../src/core/errors.ts";
import { describeError } from "../../src/core/error_text.ts";
import { EXIT_CODES, EXIT_MEANINGS, exitFor } from "../../src/cli/exit_codes.ts";

const PROVIDER: readonly ProviderReason[] = [
  "redirect_blocked",
  "authentication",
  "rate_limited",
  "quota_exhausted",
  "capacity_rejected",
  "context_overflow",
  "invalid_request",
  "not_found",
  "tools_unsupported",
  "loading",
  "unavailable",
  "connection_failed",
  "first_output_timeout",
  "idle_timeout",
  "request_timeout",
  "stream_error",
  "incomplete_stream",
  "content_filtered",
  "output_limit",
  "protocol_error",
  "net_permission",
];
const WORKSPACE: readonly WorkspaceReason[] = [
  "not_found",
  "exists",
  "outside_workspace",
  "magic_link",
  "through_link",
  "special_file",
  "protected_path",
  "multiply_linked",
  "stale_version",
  "is_directory",
  "not_directory",
  "binary",
  "not_utf8",
  "too_large",
  "no_match",
  "ambiguous_match",
  "invalid_name",
  "invalid_pattern",
  "permission",
  "unsupported_kernel",
  "worker_lost",
  "io",
];
const CONTROL: readonly ControlReason[] = [
  "no_owner",
  "unavailable",
  "not_private",
  "wrong_user",
  "wrong_version",
  "wrong_owner",
  "refused",
  "timed_out",
  "unconfirmed",
  "not_permitted",
  "id_reused",
  "too_large",
];
const STORAGE: readonly StorageReason[] = [
  "not_private",
  "is_link",
  "tracked_by_git",
  "not_ignored",
  "newer_schema",
  "older_schema",
  "weaker_mode",
  "corrupt",
  "artifact_damaged",
  "disk_full",
  "low_space",
  "limit_reached",
  "busy",
  "queue_full",
  "invalid_transition",
  "worker_lost",
  "io",
];

/** Every error there is, with facts that its words must name. */
const ERRORS: readonly FluzoError[] = [
  { type: "usage", message: "Wrong FACT", hint: "Do it right" },
  { type: "configuration_required", path: "FACT" },
  {
    type: "configuration_invalid",
    path: "FACT",
    problems: [{ key: "a.b", reason: "is wrong", line: 3, column: 4, hint: "write c" }],
  },
  { type: "consent_required", state: "missing", destination: "FACT" },
  { type: "consent_required", state: "changed", destination: "FACT" },
  { type: "permission_required", taskId: "t", operationId: "o", scope: "FACT", flag: "--x" },
  { type: "permission_denied", scope: "FACT", reason: "r" },
  { type: "budget_exhausted", limit: "turns", consumed: 3, allowed: 3 },
  { type: "context_exhausted", estimatedTokens: 5, availableTokens: 4 },
  { type: "capacity_exhausted", capacityId: "FACT", uncertain: 1 },
  { type: "capacity_wait_timeout", capacityId: "FACT", waitedSeconds: 30 },
  ...PROVIDER.map((reason): FluzoError => ({
    type: "provider",
    reason,
    origin: "FACT",
    status: 500,
    detail: "said",
    ended: true,
  })),
  ...WORKSPACE.map((reason): FluzoError => ({
    type: "workspace",
    reason,
    path: "FACT",
    detail: "d",
  })),
  ...STORAGE.map((reason): FluzoError => ({ type: "storage", reason, path: "FACT", detail: "d" })),
  { type: "process", reason: "executable_not_found", executable: "FACT", detail: "" },
  { type: "process", reason: "not_executable", executable: "FACT", detail: "" },
  { type: "process", reason: "outside_workspace", executable: "FACT", detail: "" },
  { type: "process", reason: "invalid_environment", executable: "FACT", detail: "" },
  { type: "process", reason: "program_changed", executable: "FACT", detail: "" },
  { type: "process", reason: "spawn_failed", executable: "FACT", detail: "" },
  { type: "process", reason: "run_permission", executable: "FACT", detail: "" },
  { type: "git", command: "status", detail: "FACT" },
  { type: "repeated_call", tool: "FACT", times: 4 },
  { type: "cancelled", by: "SIGINT" },
  { type: "confirmation_required", action: "FACT", flag: "--yes" },
  ...CONTROL.map((reason): FluzoError => ({ type: "control", reason, detail: "FACT" })),
  { type: "owner_conflict", workspace: "FACT", owner: null },
  { type: "owner_conflict", workspace: "FACT", owner: { pid: 7, since: "s", task: "t" } },
  { type: "unknown_outcome", operations: [{ id: "FACT", scope: "s" }] },
  { type: "no_progress", calls: 12 },
  { type: "stale_answer", operationId: "FACT", detail: "it was answered already" },
  { type: "wrong_state", taskId: "FACT", action: "resume", state: "completed", remedy: "Wait" },
  { type: "verification_failed", command: "FACT", exitCode: 1 },
  { type: "verification_failed", command: "FACT", exitCode: null },
  { type: "not_found", what: "task", id: "FACT" },
  { type: "internal", detail: "FACT" },
];

/** Errors whose words name figures instead of a place. */
const WITHOUT_PLACE: ReadonlySet<string> = new Set([
  "budget_exhausted",
  "context_exhausted",
  "cancelled",
  "no_progress",
]);

for (const error of ERRORS) {
  const name = "reason" in error ? `${error.type} ${error.reason}` : error.type;
  Deno.test(`describeError() says what and where, and keeps to the grammar: ${name}`, () => {
    const { what, remedy } = describeError(error);
    const general = error.type === "workspace" &&
      ["invalid_pattern", "unsupported_kernel"].includes(error.reason);
    if (!WITHOUT_PLACE.has(error.type) && !general) assert.match(what, /FACT/);
    for (const text of [what, remedy]) {
      assert.doesNotMatch(text, /\.$/, "no period at the end");
      assert.doesNotMatch(text, /undefined|null|\[object|: $|  {3}/);
    }
    assert.match(what, /^[A-Z"]/);
    const exit = exitFor(error);
    assert.notEqual(EXIT_CODES[exit], 0);
    assert.notEqual(EXIT_MEANINGS[exit], "");
  });
}

Deno.test("every exit code is a number of its own", () => {
  const codes = Object.values(EXIT_CODES);
  assert.equal(new Set(codes).size, codes.length);
  for (const code of codes) assert.ok(code >= 0 && code < 256);
});
