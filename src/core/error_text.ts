import type {
  BudgetLimit,
  ConfigProblem,
  FluzoError,
  ProcessError,
  ProviderError,
  StorageError,
  WorkspaceError,
} from "./errors.ts";

/** An error in words. Neither text ends with a period; `remedy` is empty when nothing can be done. */
export interface ErrorText {
  /** What happened, and where. */
  readonly what: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** Words for every error. Texts from outside are quoted as they are: sanitise where they are shown. */
export function describeError(error: FluzoError): ErrorText {
  switch (error.type) {
    case "usage":
      return { what: error.message, remedy: error.hint };
    case "configuration_required":
      return {
        what: `Cannot start: there is no configuration file "${error.path}"`,
        remedy: "Run `fluzo init` to write one",
      };
    case "configuration_invalid":
      return {
        what: [
          `Cannot use "${error.path}": ${plural(error.problems.length, "problem")}`,
          ...error.problems.map((problem) => `  ${describeProblem(problem)}`),
        ].join("\n"),
        remedy: "Correct the file; `fluzo config show` checks it again",
      };
    case "consent_required":
      return {
        what: error.state === "missing"
          ? `Cannot contact ${error.destination}: you have not agreed to this configuration here`
          : `Cannot contact ${error.destination}: the configuration changed since you agreed to it`,
        remedy: "Read it with `fluzo consent show`, then agree with `fluzo consent grant`",
      };
    case "permission_required":
      return {
        what: `Task ${error.taskId} is blocked: it needs your permission for ${error.scope} ` +
          `(operation ${error.operationId})`,
        remedy: error.flag === ""
          ? "Look at it with `fluzo task show`"
          : `Run it again with ${error.flag}`,
      };
    case "permission_denied":
      return {
        what: `Denied ${error.scope}: ${error.reason}`,
        remedy: "Change [policy] in the configuration if this should be allowed",
      };
    case "budget_exhausted":
      return {
        what: `The task used up its budget of ${LIMIT_WORDS[error.limit]}: ` +
          `${error.consumed} of ${error.allowed}`,
        remedy: `Raise harness.${LIMIT_KEYS[error.limit]} and start again`,
      };
    case "context_exhausted":
      return {
        what: `The conversation no longer fits the model: about ${error.estimatedTokens} tokens, ` +
          `${error.availableTokens} available`,
        remedy: "Start a new session, or raise context_window if the server serves more",
      };
    case "capacity_exhausted":
      return {
        what: `No request slot is free for "${error.capacityId}": ` +
          `${plural(error.uncertain, "earlier request")} may still run at the server`,
        remedy: "Wait for the server to finish, then start Fluzo again",
      };
    case "capacity_wait_timeout":
      return {
        what: `Waited ${error.waitedSeconds} s for a request slot of "${error.capacityId}"`,
        remedy: "Try again later, or raise queue_timeout_seconds of its pool",
      };
    case "provider":
      return describeProvider(error);
    case "workspace":
      return describeWorkspace(error);
    case "process":
      return describeProcess(error);
    case "git":
      return {
        what: `Cannot run git ${error.command}: ${error.detail}`,
        remedy: "Run `git status` here to see what Git says",
      };
    case "repeated_call":
      return {
        what: `The model made the same call of ${error.tool} ${error.times} times in a row and ` +
          "learned nothing new",
        remedy: "Put the request in other words, or use a stronger model",
      };
    case "cancelled":
      return { what: `Cancelled by ${error.by === "user" ? "you" : error.by}`, remedy: "" };
    case "confirmation_required":
      return {
        what: `Not done: ${error.action} needs a confirmation`,
        remedy: `Add ${error.flag}`,
      };
    case "owner_conflict":
      return {
        what: error.owner === null
          ? `Another Fluzo works in "${error.workspace}"`
          : `Another Fluzo (process ${error.owner.pid}, since ${error.owner.since}) works in ` +
            `"${error.workspace}"${error.owner.task === "" ? "" : ` on ${error.owner.task}`}`,
        remedy:
          "Wait for it or end it there; `fluzo task list` and `fluzo task show` work meanwhile",
      };
    case "unknown_outcome":
      return {
        what: `It is not known whether operation ${error.operationId} happened: ${error.detail}`,
        remedy: "Look at the workspace before you go on; Fluzo does not repeat it by itself",
      };
    case "verification_failed":
      return {
        what: error.exitCode === null
          ? `The verification \`${error.command}\` did not end by itself`
          : `The verification \`${error.command}\` failed with exit code ${error.exitCode}`,
        remedy:
          "Look at its output with `fluzo task show`, and at the changes with `fluzo task diff`",
      };
    case "storage":
      return describeStorage(error);
    case "not_found":
      return {
        what: `There is no ${error.what} "${error.id}" here`,
        remedy: NOT_FOUND_REMEDIES[error.what],
      };
    case "internal":
      return {
        what: `Fluzo failed by a defect of its own: ${error.detail}`,
        remedy: "Please report it; the journal keeps what was done",
      };
  }
}

/** One configuration problem: place, key, reason and hint in one line. */
export function describeProblem(problem: ConfigProblem): string {
  const place = problem.line === 0 ? "" : `line ${problem.line}, column ${problem.column}: `;
  const key = problem.key === "" ? "" : `${problem.key}: `;
  return `${place}${key}${problem.reason}${problem.hint === null ? "" : ` (${problem.hint})`}`;
}

const LIMIT_WORDS: Readonly<Record<BudgetLimit, string>> = {
  turns: "turns",
  active_seconds: "active seconds",
  tool_calls: "tool calls",
  total_tokens: "tokens",
};

const LIMIT_KEYS: Readonly<Record<BudgetLimit, string>> = {
  turns: "max_turns",
  active_seconds: "max_active_seconds",
  tool_calls: "max_tool_calls",
  total_tokens: "max_total_tokens",
};

const NOT_FOUND_REMEDIES = {
  task: "`fluzo task list` shows the tasks of this workspace",
  session: "`fluzo task list` shows the tasks and their sessions",
  operation: "`fluzo task show` lists the operations of a task",
  grant: "`fluzo task show` lists the grants of a task",
  artifact: "It may belong to another workspace",
  model: "`fluzo config show` lists the configured models",
} as const;

function describeProvider(error: ProviderError): ErrorText {
  const said = error.detail === "" ? "" : `: ${error.detail}`;
  const status = error.status === null ? "" : ` (HTTP ${error.status})`;
  const at = `${error.origin}${status}`;
  switch (error.reason) {
    case "redirect_blocked":
      return {
        what: `The server ${at} answered with a redirect, which Fluzo never follows${said}`,
        remedy: "Set base_url to the final address",
      };
    case "authentication":
      return {
        what: `The server ${at} refused the credentials${said}`,
        remedy: "Check auth and api_key_env of the model",
      };
    case "rate_limited":
      return {
        what: `The server ${at} limits the rate of requests${said}`,
        remedy: "Fluzo does not retry this by itself: try again later",
      };
    case "quota_exhausted":
      return {
        what: `The server ${at} says the quota is used up${said}`,
        remedy: "Fluzo does not retry this by itself",
      };
    case "capacity_rejected":
      return {
        what: `The server ${at} has no capacity for the request${said}`,
        remedy: "Fluzo does not retry this by itself: try again later",
      };
    case "context_overflow":
      return {
        what: `The request is larger than the context the server ${at} serves${said}`,
        remedy: "Lower context_window to what the server serves, or start a new session",
      };
    case "invalid_request":
      return {
        what: `The server ${at} refused the request${said}`,
        remedy: "If it names a field it does not know, switch that off in [models]",
      };
    case "not_found":
      return {
        what: `The server ${at} does not know the path or the model${said}`,
        remedy: "Check base_url (it usually ends in /v1) and model",
      };
    case "tools_unsupported":
      return {
        what: `The server ${at} cannot use tools with this model${said}`,
        remedy: "Serve a model with tool support (llama.cpp: start it with --jinja)",
      };
    case "loading":
      return {
        what: `The server ${at} is still loading the model${said}`,
        remedy: "Try again when it is ready",
      };
    case "unavailable":
      return {
        what: `The server ${at} failed${said}`,
        remedy: "Look at the server's own log",
      };
    case "connection_failed":
      return {
        what: `Cannot reach ${at}${said}`,
        remedy: "Check that the server runs and that base_url is right",
      };
    case "first_output_timeout":
      return {
        what: `The server ${at} sent no output in time${said}`,
        remedy:
          "Raise first_output_seconds in the model's timeouts, for a server that loads slowly",
      };
    case "idle_timeout":
      return {
        what: `The server ${at} stopped sending in the middle of an answer${said}`,
        remedy: "Raise idle_seconds in the model's timeouts, or look at the server's log",
      };
    case "request_timeout":
      return {
        what: `The answer of ${at} took longer than the request may${said}`,
        remedy: "Raise request_seconds in the model's timeouts",
      };
    case "stream_error":
      return {
        what: `The server ${at} reported an error in the middle of an answer${said}`,
        remedy: "Look at the server's own log",
      };
    case "incomplete_stream":
      return {
        what: `The answer of ${at} was cut off before its end${said}`,
        remedy: "Nothing of it was run; start the task again",
      };
    case "content_filtered":
      return { what: `The server ${at} filtered the answer${said}`, remedy: "Change the request" };
    case "output_limit":
      return {
        what: `The answer of ${at} reached the output limit before its end${said}`,
        remedy: "Raise max_output_tokens of the model",
      };
    case "protocol_error":
      return {
        what: `The server ${at} answered with something that is not Chat Completions${said}`,
        remedy: "Check base_url (it usually ends in /v1)",
      };
    case "net_permission":
      return {
        what: `This Fluzo may not connect to ${error.origin}${said}`,
        remedy: "Install it again with that host, as `fluzo doctor` shows",
      };
  }
}

function describeWorkspace(error: WorkspaceError): ErrorText {
  const at = `"${error.path}"`;
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "not_found":
      return {
        what: `There is no file ${at}${detail}`,
        remedy: "Use list or search to find the right name",
      };
    case "exists":
      return {
        what: `${at} exists already${detail}`,
        remedy: "Read it first, then edit it",
      };
    case "outside_workspace":
      return {
        what: `${at} leads out of the workspace${detail}`,
        remedy: "Use a path inside the workspace, relative to its root",
      };
    case "magic_link":
      return {
        what: `${at} goes through a kernel link, which is never followed${detail}`,
        remedy: "",
      };
    case "through_link":
      return {
        what: `${at} is reached through a link, and files are not changed through links${detail}`,
        remedy: "Use the real path",
      };
    case "special_file":
      return { what: `${at} is not a regular file${detail}`, remedy: "" };
    case "protected_path":
      return { what: `${at} is protected and out of reach of file tools${detail}`, remedy: "" };
    case "multiply_linked":
      return {
        what: `${at} has more than one name (hard links), so it is not changed${detail}`,
        remedy: "The user can break the link by copying the file",
      };
    case "stale_version":
      return {
        what: `${at} is not the version that was read${detail}`,
        remedy: "Read it again and make the change to what is there now",
      };
    case "is_directory":
      return { what: `${at} is a directory${detail}`, remedy: "Use list to look into it" };
    case "not_directory":
      return { what: `A part of ${at} is not a directory${detail}`, remedy: "Check the path" };
    case "binary":
      return { what: `${at} is a binary file${detail}`, remedy: "" };
    case "not_utf8":
      return {
        what: `${at} is not UTF-8, so it cannot be changed without loss${detail}`,
        remedy: "",
      };
    case "too_large":
      return { what: `${at} is too large${detail}`, remedy: "Read a part of it, or search in it" };
    case "no_match":
      return {
        what: `The text to replace is not in ${at}${detail}`,
        remedy: "Copy the old text exactly as it is in the file",
      };
    case "ambiguous_match":
      return {
        what: `The text to replace is in ${at} more than once${detail}`,
        remedy: "Give more of the surrounding lines, or ask for all of them",
      };
    case "invalid_name":
      return { what: `${at} is not a usable path${detail}`, remedy: "Use a relative path" };
    case "invalid_pattern":
      return {
        what: `The pattern cannot be used${detail}`,
        remedy: "Correct the pattern, or search for the literal text",
      };
    case "permission":
      return { what: `The system does not permit access to ${at}${detail}`, remedy: "" };
    case "unsupported_kernel":
      return {
        what: `File tools cannot work safely on this kernel${detail}`,
        remedy: "Linux 5.6 or newer with openat2 is needed",
      };
    case "worker_lost":
      return {
        what: `The file worker ended while it handled ${at}${detail}`,
        remedy: "Look at the file before you go on",
      };
    case "io":
      return { what: `The system failed on ${at}${detail}`, remedy: "" };
  }
}

function describeProcess(error: ProcessError): ErrorText {
  const name = `"${error.executable}"`;
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "executable_not_found":
      return {
        what: `There is no program ${name}${detail}`,
        remedy: "Check the name; programs are looked for in PATH only",
      };
    case "not_executable":
      return { what: `${name} is not executable${detail}`, remedy: "Run it by its interpreter" };
    case "outside_workspace":
      return {
        what: `Cannot run ${name}: the folder leads out of the workspace${detail}`,
        remedy: "Use a folder inside the workspace",
      };
    case "invalid_environment":
      return { what: `Cannot run ${name}: invalid environment${detail}`, remedy: "" };
    case "spawn_failed":
      return { what: `Cannot start ${name}${detail}`, remedy: "" };
    case "run_permission":
      return {
        what: `This Fluzo may not start ${name}${detail}`,
        remedy: "Install it again with the command in the README",
      };
  }
}

function describeStorage(error: StorageError): ErrorText {
  const at = `"${error.path}"`;
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "not_private":
      return { what: `${at} is not private to you${detail}`, remedy: "" };
    case "is_link":
      return {
        what: `${at} is a link, so Fluzo stores nothing there`,
        remedy: "Replace it with a real folder",
      };
    case "tracked_by_git":
      return {
        what: `Git tracks ${at}, which holds private records`,
        remedy: "Run `git rm -r --cached .fluzodrive`, then `fluzo init`",
      };
    case "not_ignored":
      return {
        what: `Git does not ignore ${at}, which will hold private records`,
        remedy: "Run `fluzo init --yes`, or add /.fluzodrive/ to .git/info/exclude",
      };
    case "newer_schema":
      return { what: `${at} was written by a newer Fluzo${detail}`, remedy: "Use that Fluzo" };
    case "weaker_mode":
      return {
        what: `${at} cannot be kept durable here${detail}`,
        remedy: "Keep the workspace on a local file system",
      };
    case "corrupt":
      return {
        what: `The journal ${at} is damaged${detail}`,
        remedy: "Nothing was changed: copy the file away before anything else",
      };
    case "disk_full":
      return {
        what: `The file system of ${at} is full${detail}`,
        remedy: "Free some space; what was committed is kept",
      };
    case "busy":
      return { what: `${at} is in use${detail}`, remedy: "Try again" };
    case "queue_full":
      return { what: `Too many records wait for ${at}${detail}`, remedy: "Try again" };
    case "invalid_transition":
      return {
        what: `The journal ${at} refused a change that cannot follow from its state${detail}`,
        remedy: "Please report it; nothing was changed",
      };
    case "worker_lost":
      return {
        what: `The worker that writes ${at} ended${detail}`,
        remedy: "Start Fluzo again: it shows what is known and what is not",
      };
    case "io":
      return { what: `Cannot use ${at}${detail}`, remedy: "Check the folder and its file system" };
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
