import type { OperationDetail, TaskDetail } from "../../core/port/read_models.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import { describeLeft } from "../../core/left_processes.ts";
import { describeError } from "../../core/error_text.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { inspectTask } from "./_inspection.ts";

/** Operations that are shown; a task has at most `max_tool_calls` and its verifications. */
const MAX_OPERATIONS = 200;

/** `fluzo task show ID`. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const found = await inspectTask(input);
  if (!found.ok) return await failWith(context, found.error);
  const { taskId, task } = found.value;
  await using journal = found.value.journal;
  const operations = await journal.query({
    type: "list_operations",
    taskId,
    after: null,
    limit: MAX_OPERATIONS,
  });
  if (!operations.ok) return await failWith(context, operations.error);
  const { items, next } = operations.value;
  return await succeedWith(context, {
    text: describe(task, { operations: items, more: next !== null }),
    json: { type: "task", task, operations: items, more: next !== null },
  });
}

function describe(
  task: TaskDetail,
  { operations, more }: {
    readonly operations: readonly OperationDetail[];
    readonly more: boolean;
  },
): string {
  const { consumption, limits, result } = task;
  const state = task.derived === null
    ? `${task.state}${task.reason === null ? "" : ` (${task.reason})`}`
    : `${task.derived}: the process that ran it is gone`;
  const about = consumption.estimatedTokens > 0 ? "about " : "";
  const lines = [
    `Task:      ${task.id}`,
    `Session:   ${task.sessionId}`,
    `State:     ${state}`,
    `Created:   ${new Date(task.createdWallMs).toISOString()}`,
    `Request:   ${safeText(task.goal).trim().replaceAll("\n", "\n           ")}`,
    `Verified:  ${verification(task)}`,
    `Used:      ${consumption.turns}/${limits.maxTurns} turns, ` +
    `${consumption.toolCalls}/${limits.maxToolCalls} tool calls, ` +
    `${about}${consumption.tokens}/${limits.maxTotalTokens} tokens, ` +
    `${Math.round(consumption.activeMs / 1000)}/${limits.maxActiveSeconds} s`,
  ];
  if (task.yolo) lines.push("Mode:      YOLO: what would be asked was allowed");
  for (const attempt of task.attempts) {
    lines.push(
      `Attempt:   ${attempt.number}, ${attempt.derived ?? attempt.state}, model ` +
        `${safeText(attempt.model)}, trace ${attempt.traceId}`,
    );
  }
  lines.push("", "Operations:");
  lines.push(...operations.map((operation) => `  ${describeOperation(operation)}`));
  if (operations.length === 0) lines.push("  none");
  for (const { id } of operations.filter(({ state }) => state === "requested")) {
    lines.push(
      `Waits:     fluzo task approve ${id}, or fluzo task deny ${id}; then ` +
        `fluzo session resume ${task.id}`,
    );
  }
  for (const operation of operations) {
    if ((operation.derived ?? operation.state) !== "unknown") continue;
    lines.push(
      `Unknown:   nobody saw whether ${operation.id} happened; look, then resume with ` +
        `--accept-unknown ${operation.id} or --retry-unknown ${operation.id}`,
    );
  }
  for (const operation of operations) {
    const left = describeLeft(operation.left);
    if (left === null) continue;
    lines.push(`Left:      ${operation.id}, when last looked at, ${safeText(left)}`);
  }
  if (more) lines.push(`  (only the first ${MAX_OPERATIONS} are shown)`);
  if (result !== null) {
    for (const denial of result.denials) {
      lines.push(`Denied:    ${safeText(denial.scope)}: ${safeText(denial.reason)}`);
    }
    for (const line of result.uncertainties) lines.push(`Note:      ${safeText(line)}`);
    if (result.error !== null) {
      const { what, remedy } = describeError(result.error);
      lines.push(`Error:     ${safeText(what)}${remedy === "" ? "" : `. ${safeText(remedy)}`}`);
    }
    if (result.answer.trim() !== "") lines.push("", "Answer:", safeText(result.answer).trim());
  }
  return `${lines.join("\n")}\n`;
}

function verification({ verification: command, result }: TaskDetail): string {
  if (command.length === 0) return "not configured";
  return `${result?.verification ?? "not run"} (${formatCommand(command)})`;
}

function describeOperation(operation: OperationDetail): string {
  const state = operation.derived ?? operation.state;
  const summary = operation.summary === "" ? "" : `: ${safeText(operation.summary)}`;
  return `${operation.id}  ${state.padEnd(16)}  ${describeScope(operation.scope)}${summary}`;
}
