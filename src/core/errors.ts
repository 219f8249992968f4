/**
 * The one error taxonomy. An error is data; `core/error_text.ts` turns it into words that say what
 * happened, where, and what to do. Text from outside (servers, files, the kernel) is redacted and
 * bounded before it gets in here, and sanitised again where it is shown.
 */

/** Why a file operation was refused or failed. */
export type WorkspaceReason =
  | "not_found"
  | "exists"
  | "outside_workspace"
  | "magic_link"
  | "through_link"
  | "special_file"
  | "protected_path"
  | "multiply_linked"
  | "stale_version"
  | "is_directory"
  | "not_directory"
  | "binary"
  | "not_utf8"
  | "too_large"
  | "no_match"
  | "ambiguous_match"
  | "invalid_name"
  | "invalid_pattern"
  | "permission"
  | "unsupported_kernel"
  | "worker_lost"
  | "io";

/** Why a provider request failed. */
export type ProviderReason =
  | "redirect_blocked"
  | "authentication"
  | "rate_limited"
  | "quota_exhausted"
  | "capacity_rejected"
  | "context_overflow"
  | "invalid_request"
  | "not_found"
  | "tools_unsupported"
  | "loading"
  | "unavailable"
  | "connection_failed"
  | "first_output_timeout"
  | "idle_timeout"
  | "request_timeout"
  | "stream_error"
  | "incomplete_stream"
  | "content_filtered"
  | "output_limit"
  | "protocol_error"
  | "net_permission";

/** Why a process could not be run or did not end by itself. */
export type ProcessReason =
  | "executable_not_found"
  | "not_executable"
  | "outside_workspace"
  | "invalid_environment"
  | "program_changed"
  | "cancelled"
  | "spawn_failed"
  | "run_permission";

/** Why the store refused or failed. */
export type StorageReason =
  | "not_private"
  | "is_link"
  | "tracked_by_git"
  | "not_ignored"
  | "newer_schema"
  | "older_schema"
  | "weaker_mode"
  | "corrupt"
  | "artifact_damaged"
  | "disk_full"
  | "low_space"
  | "limit_reached"
  | "busy"
  | "queue_full"
  | "invalid_transition"
  | "worker_lost"
  | "io";

/** Why another Fluzo could not be asked through its control socket. */
export type ControlReason =
  | "no_owner"
  | "unavailable"
  | "not_private"
  | "wrong_user"
  | "wrong_version"
  | "wrong_owner"
  | "refused"
  | "timed_out"
  | "unconfirmed"
  | "not_permitted"
  | "id_reused"
  | "too_large";

/** One problem in the configuration. `line` and `column` are 1-based, 0 where there is no place. */
export interface ConfigProblem {
  readonly key: string;
  readonly reason: string;
  readonly line: number;
  readonly column: number;
  /** What to write instead, when it is known. */
  readonly hint: string | null;
}

/** A limit of a task that ran out. */
export type BudgetLimit = "turns" | "active_seconds" | "tool_calls" | "total_tokens";

export interface UsageError {
  readonly type: "usage";
  readonly message: string;
  readonly hint: string;
}
export interface ConfigurationRequiredError {
  readonly type: "configuration_required";
  readonly path: string;
}
export interface ConfigurationInvalidError {
  readonly type: "configuration_invalid";
  readonly path: string;
  readonly problems: readonly ConfigProblem[];
}
export interface ConsentRequiredError {
  readonly type: "consent_required";
  readonly state: "missing" | "changed";
  readonly destination: string;
}
export interface PermissionRequiredError {
  readonly type: "permission_required";
  readonly taskId: string;
  readonly operationId: string;
  /** The exact scope, already made visible for display. */
  readonly scope: string;
  /** The command-line flag that would grant it. */
  readonly flag: string;
}
export interface PermissionDeniedError {
  readonly type: "permission_denied";
  readonly scope: string;
  readonly reason: string;
}
export interface BudgetExhaustedError {
  readonly type: "budget_exhausted";
  readonly limit: BudgetLimit;
  readonly consumed: number;
  readonly allowed: number;
}
export interface ContextExhaustedError {
  readonly type: "context_exhausted";
  readonly estimatedTokens: number;
  readonly availableTokens: number;
}
export interface CapacityExhaustedError {
  readonly type: "capacity_exhausted";
  readonly capacityId: string;
  readonly uncertain: number;
}
export interface CapacityWaitTimeoutError {
  readonly type: "capacity_wait_timeout";
  readonly capacityId: string;
  readonly waitedSeconds: number;
}
export interface ProviderError {
  readonly type: "provider";
  readonly reason: ProviderReason;
  /** Scheme, host and port only. */
  readonly origin: string;
  /** HTTP status, or null when no answer came. */
  readonly status: number | null;
  /** The server's own words, redacted and at most 2 KiB; empty when it said nothing. */
  readonly detail: string;
  /** True when the server proved that the request ended, so its slot is free. */
  readonly ended: boolean;
}
export interface WorkspaceError {
  readonly type: "workspace";
  readonly reason: WorkspaceReason;
  readonly path: string;
  /** What differs, the nearest line, the kernel's code: empty when there is nothing to add. */
  readonly detail: string;
}
export interface ProcessError {
  readonly type: "process";
  readonly reason: ProcessReason;
  readonly executable: string;
  readonly detail: string;
}
export interface GitError {
  readonly type: "git";
  readonly command: string;
  readonly detail: string;
}
/** The model made the same call again and again and got the same answer. */
export interface RepeatedCallError {
  readonly type: "repeated_call";
  readonly tool: string;
  readonly times: number;
}
/** The model's calls keep failing: nothing moves. */
export interface NoProgressError {
  readonly type: "no_progress";
  /** Calls in a row that failed or were denied. */
  readonly calls: number;
}
/** An answer that came too late, or to something else than what waits now. */
export interface StaleAnswerError {
  readonly type: "stale_answer";
  readonly operationId: string;
  readonly detail: string;
}
/** What was shown before it was to be deleted is not what is there now. */
export interface StalePreviewError {
  readonly type: "stale_preview";
  readonly sessionId: string;
}
/** A command that the state of the task does not allow. */
export interface WrongStateError {
  readonly type: "wrong_state";
  readonly taskId: string;
  readonly action: string;
  readonly state: string;
  /** What can be done instead. */
  readonly remedy: string;
}
export interface CancelledError {
  readonly type: "cancelled";
  readonly by: "user" | "SIGINT" | "SIGTERM" | "SIGHUP";
}
export interface ConfirmationRequiredError {
  readonly type: "confirmation_required";
  readonly action: string;
  readonly flag: string;
}
export interface OwnerConflictError {
  readonly type: "owner_conflict";
  readonly workspace: string;
  /** What the owner recorded of itself; null when its record cannot be read. */
  readonly owner: { readonly pid: number; readonly since: string; readonly task: string } | null;
}
/** The Fluzo that owns the workspace could not be asked, or did not do what was asked. */
export interface ControlError {
  readonly type: "control";
  readonly reason: ControlReason;
  /** What exactly, without the remedy; empty when there is nothing to add. */
  readonly detail: string;
}
export interface UnknownOutcomeError {
  readonly type: "unknown_outcome";
  /** Every operation of the task whose outcome is unknown and undecided; never empty. */
  readonly operations: readonly { readonly id: string; readonly scope: string }[];
}
export interface VerificationFailedError {
  readonly type: "verification_failed";
  readonly command: string;
  readonly exitCode: number | null;
}
export interface StorageError {
  readonly type: "storage";
  readonly reason: StorageReason;
  readonly path: string;
  readonly detail: string;
}
export interface NotFoundError {
  readonly type: "not_found";
  readonly what:
    | "task"
    | "session"
    | "operation"
    | "grant"
    | "artifact"
    | "model"
    | "message";
  readonly id: string;
}
export interface InternalError {
  readonly type: "internal";
  /** The defect in one line; never a stack trace. */
  readonly detail: string;
}

export type FluzoError =
  | UsageError
  | ConfigurationRequiredError
  | ConfigurationInvalidError
  | ConsentRequiredError
  | PermissionRequiredError
  | PermissionDeniedError
  | BudgetExhaustedError
  | ContextExhaustedError
  | CapacityExhaustedError
  | CapacityWaitTimeoutError
  | ProviderError
  | WorkspaceError
  | ProcessError
  | GitError
  | RepeatedCallError
  | NoProgressError
  | StaleAnswerError
  | StalePreviewError
  | WrongStateError
  | CancelledError
  | ConfirmationRequiredError
  | OwnerConflictError
  | ControlError
  | UnknownOutcomeError
  | VerificationFailedError
  | StorageError
  | NotFoundError
  | InternalError;

/** Carries a `FluzoError` through code that must throw; the edge unwraps it. */
export class FluzoFailure extends Error {
  override readonly name = "FluzoFailure";
  readonly error: FluzoError;

  constructor(error: FluzoError, options?: ErrorOptions) {
    super(error.type, options);
    this.error = error;
  }
}
