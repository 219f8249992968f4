import type { Message } from "../../core/conversation/message.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import type { OperationDetail, SessionSummary, TaskDetail } from "../../core/port/read_models.ts";
import { safeText } from "./safe_text.ts";

/** Head of an exported session. */
export function sessionHead({ id, title, createdWallMs }: SessionSummary): string {
  return `# ${oneLine(title)}\n\nSession ${id}, begun ${new Date(createdWallMs).toISOString()}.\n`;
}

/** One task with everything it did. */
export function taskSection(task: TaskDetail, operations: readonly OperationDetail[]): string {
  const { result } = task;
  const lines = [
    `\n## Task ${task.id}\n`,
    `- State: ${task.derived ?? task.state}${task.reason === null ? "" : ` (${task.reason})`}`,
    `- Verification: ${result?.verification ?? "not run"}`,
    `- Used: ${task.consumption.turns} turns, ${task.consumption.toolCalls} tool calls, ` +
    `${task.consumption.tokens} tokens`,
    ...(result?.changes ?? []).map(({ change, path, by }) =>
      `- ${change} ${code(path)}${by === "observed" ? " (observed)" : ""}`
    ),
    ...(result?.uncertainties ?? []).map((line) => `- Not certain: ${oneLine(line)}`),
  ];
  if (operations.length > 0) lines.push("\n### Operations\n");
  for (const operation of operations) {
    const state = operation.derived ?? operation.state;
    const summary = operation.summary === "" ? "" : `: ${oneLine(operation.summary)}`;
    lines.push(`- ${state}: ${code(describeScope(operation.scope))}${summary}`);
  }
  return `${lines.join("\n")}\n`;
}

/** One message. What the model and the tools said is quoted, so that it cannot pose as structure. */
export function messageSection(message: Message): string {
  switch (message.role) {
    case "system":
      return `\n### System\n\n${block(message.text)}`;
    case "user":
      return `\n### You\n\n${block(message.text)}`;
    case "assistant": {
      const end = message.end === "stop" || message.end === "tool_calls"
        ? ""
        : ` (${message.end}: not the whole answer)`;
      const text = message.text.trim() === "" ? "" : block(message.text);
      const calls = message.toolCalls.map(({ name, argumentsText }) =>
        `- calls ${code(`${name} ${argumentsText}`)}\n`
      ).join("");
      return `\n### Model${end}\n\n${text}${calls}`;
    }
    case "tool":
      return `\n### Result of ${code(message.name)}: ${message.outcome}\n\n${block(message.text)}`;
  }
}

/** A fenced block whose fence is longer than any row of backticks in it. */
function block(text: string): string {
  const safe = safeText(text).replace(/\n+$/, "");
  const fence = "`".repeat(Math.max(3, longestRun(safe) + 1));
  return `${fence}text\n${safe}\n${fence}\n`;
}

/** A code span on one line, likewise. */
function code(text: string): string {
  const safe = oneLine(text);
  const ticks = "`".repeat(longestRun(safe) + 1);
  const space = safe.startsWith("`") || safe.endsWith("`") ? " " : "";
  return `${ticks}${space}${safe}${space}${ticks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

function oneLine(text: string): string {
  return safeText(text).trim().replaceAll(/\s*\n\s*/g, " ");
}
