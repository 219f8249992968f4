import type { FluzoError, ProviderReason } from "../core/errors.ts";

/** Every way a command can end, with its exit code. Documented in `docs/cli.md`, which is checked. */
export const EXIT_CODES = {
  ok: 0,
  usage: 2,
  configuration_required: 3,
  configuration_invalid: 4,
  consent_required: 5,
  permission_required: 10,
  permission_denied: 11,
  budget_exhausted: 12,
  context_exhausted: 13,
  capacity_exhausted: 14,
  capacity_wait_timeout: 15,
  no_progress: 16,
  provider_authentication: 20,
  provider_limited: 21,
  provider_redirect: 22,
  provider_unavailable: 23,
  provider_protocol: 24,
  provider_rejected: 25,
  cancelled: 30,
  confirmation_required: 31,
  owner_conflict: 32,
  unknown_outcome: 33,
  verification_failed: 34,
  storage_error: 35,
  not_found: 36,
  workspace_error: 37,
  process_error: 38,
  git_error: 39,
  stale_answer: 40,
  wrong_state: 41,
  control_error: 42,
  internal: 70,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** The name of an exit code, as it stands in JSON output. */
export type ExitName = keyof typeof EXIT_CODES;

/** What each exit means, for the documentation and for `--help`. */
export const EXIT_MEANINGS: Readonly<Record<ExitName, string>> = {
  ok: "done; for a task: completed, and verified where a verification is configured",
  usage: "the command line is wrong",
  configuration_required: "there is no configuration file",
  configuration_invalid: "the configuration file has problems, all of which are named",
  consent_required: "you have not agreed to this configuration in this workspace",
  permission_required: "the task is stored as blocked: it needs a permission nobody could give",
  permission_denied: "something the task asked for was denied",
  budget_exhausted: "a limit of the task is used up",
  context_exhausted: "the conversation no longer fits the model's context",
  capacity_exhausted: "no request slot, and none will free itself",
  capacity_wait_timeout: "waited for a request slot as long as the pool allows",
  no_progress: "the model repeated one call with the same result, or all its calls failed",
  provider_authentication: "the server refused the credentials",
  provider_limited: "the server refused for rate, quota or capacity; never retried",
  provider_redirect: "the server answered with a redirect, which is never followed",
  provider_unavailable: "the server cannot be reached, failed, is loading, or was too slow",
  provider_protocol: "the answer was cut off, was an error, or is not Chat Completions",
  provider_rejected: "the server refused the request itself",
  cancelled: "cancelled from elsewhere",
  confirmation_required: "the action needs an explicit confirmation",
  owner_conflict: "another Fluzo works in this workspace",
  unknown_outcome: "it is not known whether an operation happened",
  verification_failed: "the verification command failed, also after its repair rounds",
  storage_error: "the journal cannot be written or read",
  not_found: "there is no such task, session or other record",
  workspace_error: "a file operation of the command itself failed",
  process_error: "a program the command itself needs could not be run",
  git_error: "Git failed on something the command itself needs",
  stale_answer: "the answer came too late, or to something that has changed",
  wrong_state: "the task is not in a state that allows this",
  control_error: "the Fluzo that works in this workspace could not be asked, or refused",
  internal: "a defect of Fluzo",
  hangup: "ended by SIGHUP, cleanly",
  interrupted: "ended by SIGINT (Ctrl+C), cleanly",
  terminated: "ended by SIGTERM, cleanly",
};

/** The exit for an error. */
export function exitFor(error: FluzoError): ExitName {
  switch (error.type) {
    case "usage":
    case "configuration_required":
    case "configuration_invalid":
    case "consent_required":
    case "permission_required":
    case "permission_denied":
    case "budget_exhausted":
    case "context_exhausted":
    case "capacity_exhausted":
    case "capacity_wait_timeout":
    case "confirmation_required":
    case "owner_conflict":
    case "unknown_outcome":
    case "verification_failed":
    case "no_progress":
    case "stale_answer":
    case "wrong_state":
    case "not_found":
    case "internal":
      return error.type;
    case "provider":
      return exitForProvider(error.reason);
    case "repeated_call":
      return "no_progress";
    case "stale_preview":
      return "stale_answer";
    case "workspace":
      return "workspace_error";
    case "process":
      return "process_error";
    case "control":
      return "control_error";
    case "git":
      return "git_error";
    case "storage":
      return "storage_error";
    case "cancelled":
      switch (error.by) {
        case "user":
          return "cancelled";
        case "SIGINT":
          return "interrupted";
        case "SIGTERM":
          return "terminated";
        case "SIGHUP":
          return "hangup";
      }
  }
}

function exitForProvider(reason: ProviderReason): ExitName {
  switch (reason) {
    case "redirect_blocked":
      return "provider_redirect";
    case "authentication":
      return "provider_authentication";
    case "rate_limited":
    case "quota_exhausted":
    case "capacity_rejected":
      return "provider_limited";
    case "loading":
    case "unavailable":
    case "connection_failed":
    case "first_output_timeout":
    case "idle_timeout":
    case "request_timeout":
    case "net_permission":
      return "provider_unavailable";
    case "stream_error":
    case "incomplete_stream":
    case "protocol_error":
    case "output_limit":
    case "content_filtered":
      return "provider_protocol";
    case "invalid_request":
    case "not_found":
    case "context_overflow":
    case "tools_unsupported":
      return "provider_rejected";
  }
}
