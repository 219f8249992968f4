import type { ErrorText } from "./_error_words.ts";
import { describeControl } from "./_control_error_text.ts";
import { describeProcess } from "./_process_error_text.ts";
import { describeProvider } from "./_provider_error_text.ts";
import { describeStorage } from "./_storage_error_text.ts";
import { describeWorkspace } from "./_workspace_error_text.ts";
import type { BudgetLimit, ConfigProblem, FluzoError } from "./errors.ts";

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
        remedy: `Answer with \`fluzo task approve ${error.operationId}\` or \`fluzo task deny ` +
          `${error.operationId}\`, then go on with \`fluzo session resume ${error.taskId}\`` +
          (error.flag === "" ? "" : `; or run it again with ${error.flag}`),
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
        remedy:
          `Give it more with \`fluzo task extend\`, then \`fluzo session resume\`; new tasks ` +
          `take harness.${LIMIT_KEYS[error.limit]}`,
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
    case "no_progress":
      return {
        what: `The model's last ${error.calls} calls all failed or were denied`,
        remedy: "Look at them with `fluzo task show`, then help it with `fluzo session resume`",
      };
    case "stale_answer":
      return {
        what: `Cannot answer operation ${error.operationId}: ${error.detail}`,
        remedy: "`fluzo task show` shows what waits now",
      };
    case "stale_preview":
      return {
        what:
          `Session ${error.sessionId} was not deleted: it does not hold any more what was shown`,
        remedy: "Look again with `fluzo history list`",
      };
    case "wrong_state":
      return {
        what: `Cannot ${error.action} task ${error.taskId}: it is ${error.state}`,
        remedy: error.remedy,
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
        remedy: ownerRemedy(error.owner?.task ?? ""),
      };
    case "control":
      return describeControl(error);
    case "unknown_outcome":
      return {
        what: [
          "It is not known whether this happened, and Fluzo does not repeat it by itself:",
          ...error.operations.map(({ id, scope }) => `  ${id}  ${scope}`),
        ].join("\n"),
        remedy:
          "Look at the workspace, then decide for each: --accept-unknown ID goes on as it is, " +
          "--retry-unknown ID does it again",
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
  message: "It may have reached the model already",
  artifact: "It may belong to another workspace",
  model: "`fluzo config show` lists the configured models",
} as const;

/** What can be done while another Fluzo has the workspace. */
function ownerRemedy(task: string): string {
  const id = task === "" ? "ID" : task;
  return "Wait for it; meanwhile look with `fluzo task list` and " +
    `\`fluzo task show ${id}\`, or stop its task with \`fluzo task cancel ${id}\``;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
