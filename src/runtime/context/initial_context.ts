import { formatCommand } from "../../core/policy/command_scope.ts";
import type { GrantRequest } from "../../core/policy/grant_request.ts";
import { truncateMiddle } from "../../core/text/truncate.ts";
import type { OnAsk } from "../../core/port/application.ts";
import type { Baseline } from "../../core/events/event.ts";

/** Changed paths that are named to the model; a longer list tells only its length. */
const MAX_STATUS_PATHS = 40;

/** The request itself, in bytes: larger text belongs into a file. */
const MAX_GOAL_BYTES = 32_768;

/** What the first message of a task says besides the request. */
export interface TaskFacts {
  readonly baseline: Baseline;
  readonly grants: readonly GrantRequest[];
  readonly verification: readonly string[];
  readonly yolo: boolean;
  readonly onAsk: OnAsk;
}

/** The user's message of a task: the request first, then what is known about the workspace. */
export function taskMessage(goal: string, facts: TaskFacts): string {
  const lines = [
    truncateMiddle(goal, MAX_GOAL_BYTES),
    "",
    "<workspace>",
    describeGit(facts.baseline),
    ...describeChanges(facts.baseline),
    describeCommands(facts),
  ];
  if (facts.verification.length > 0) {
    lines.push(
      `When you finish, this is run to verify your work: ${formatCommand(facts.verification)}`,
    );
  }
  lines.push("</workspace>");
  return lines.join("\n");
}

const OTHERS: Readonly<Record<OnAsk, string>> = {
  wait: "anything else that needs permission is asked of the user",
  block: "anything else that needs permission ends this run",
  deny: "anything else that needs permission is denied",
};

function describeGit(baseline: Baseline): string {
  switch (baseline.git) {
    case "none":
      return "This folder is not a Git repository.";
    case "unborn":
      return "Git repository without a commit yet.";
    case "commits":
      return baseline.branch === null
        ? "Git repository, detached HEAD."
        : `Git repository, branch ${baseline.branch}.`;
  }
}

function describeChanges({ entries, truncated, git }: Baseline): string[] {
  if (git === "none") return [];
  if (entries.length === 0) return ["No uncommitted changes."];
  const shown = entries.slice(0, MAX_STATUS_PATHS).map(({ change, path }) => `  ${change} ${path}`);
  const left = entries.length - shown.length;
  if (truncated) shown.push("  and more");
  else if (left > 0) shown.push(`  and ${left} more`);
  return [
    "The user has uncommitted changes. Files listed here need the user's permission to be edited:",
    ...shown,
  ];
}

/** Which commands run, and what happens to the others. */
export function describeCommands(
  { grants, yolo, onAsk }: Pick<TaskFacts, "grants" | "yolo" | "onAsk">,
): string {
  if (yolo) return "Commands run without asking.";
  const commands = grants.flatMap((grant) => {
    switch (grant.type) {
      case "exec":
        return [
          `  run ${JSON.stringify(grant.argv)}${grant.cwd === "." ? "" : ` in ${grant.cwd}`}`,
        ];
      case "shell":
        return [`  shell ${JSON.stringify(grant.script)}`];
      case "touch":
        return [`  change ${grant.path}`];
    }
  });
  const others = OTHERS[onAsk];
  if (commands.length === 0) return `No command is granted; ${others}.`;
  return `Granted exactly as written here; ${others}:\n${commands.join("\n")}`;
}
