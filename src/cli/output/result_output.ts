import { describeError } from "../../core/error_text.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { Denial, TaskResult } from "../../core/events/event.ts";
import type { SessionId, TaskId } from "../../core/ids.ts";
import { EXIT_CODES, exitFor, type ExitName } from "../exit_codes.ts";
import { errorJson } from "./error_output.ts";
import { safeText } from "./safe_text.ts";
import { type Style, styleDiff } from "./style.ts";

/** Version of the JSON that a headless task prints. */
const RESULT_SCHEMA_VERSION = 1;

/** A finished run, as every format shows it. */
export interface RunReport {
  readonly taskId: TaskId;
  readonly sessionId: SessionId;
  readonly result: TaskResult;
  /** The diff of observed changes; empty when nothing changed. */
  readonly diff: string;
  /** The verification command on one line; empty when none is configured. */
  readonly verification: string;
}

/**
 * The exit of a finished task. A denial that nothing makes up for is not a success: only a passed
 * verification proves that the task did not need what was denied.
 */
export function exitForResult(result: TaskResult): ExitName {
  if (result.error !== null) return exitFor(result.error);
  const denied = result.denials.some(({ kind }) => kind === "permission");
  if (result.status === "completed") {
    return denied && result.verification !== "passed" ? "permission_denied" : "ok";
  }
  return "internal";
}

/** The report as text for people. */
export function reportText(report: RunReport, style: Style): string {
  const { result } = report;
  const parts: string[] = [];
  if (result.answer.trim() !== "") parts.push(`${safeText(result.answer).trim()}\n`);
  parts.push(changesText(report, style));
  for (const line of result.uncertainties) parts.push(`Note: ${safeText(line)}.\n`);
  if (result.denials.length > 0) {
    parts.push("Denied:\n" + result.denials.map(denialText).join(""));
  }
  parts.push(verificationText(report, style));
  parts.push(statusText(report, style));
  return parts.filter((part) => part !== "").join("\n");
}

function changesText({ result, diff }: RunReport, style: Style): string {
  const lines = result.changes.map(({ change, path, by }) =>
    `  ${change} ${safeText(path)}${by === "observed" ? " (observed)" : ""}\n`
  );
  const kept = result.preExisting.filter(({ now }) => now !== "unchanged").map(({ path, now }) =>
    `  ${safeText(path)}: you had changed it before; now ${
      now === "changed" ? "changed further" : "not known"
    }\n`
  );
  const head = lines.length + kept.length === 0
    ? `${style("strong", "Changes:")} none\n`
    : `${style("strong", "Changes:")}\n${lines.join("")}${kept.join("")}`;
  return diff === "" ? head : `${head}\n${styleDiff(safeText(diff).trimEnd(), style)}\n`;
}

function denialText(denial: Denial): string {
  const flag = denial.flag === "" ? "" : `; ${safeText(denial.flag)} would allow it`;
  return `  ${safeText(denial.tool)}: ${safeText(denial.scope)}: ${
    safeText(denial.reason)
  }${flag}\n`;
}

function verificationText({ result, verification }: RunReport, style: Style): string {
  const label = style("strong", "Verification:");
  const command = verification === "" ? "" : ` (${safeText(verification)})`;
  switch (result.verification) {
    case "passed":
      return `${label} ${style("good", "passed")}${command}\n`;
    case "failed":
      return `${label} ${style("bad", "failed")}${command}\n`;
    case "not_run":
      return `${label} not run${command}\n`;
    case "not_configured":
      return `${label} not configured: nothing proves this result\n`;
  }
}

function statusText({ result, taskId }: RunReport, style: Style): string {
  const { turns, toolCalls, tokens, estimatedTokens, activeMs } = result.consumption;
  const about = estimatedTokens > 0 ? "about " : "";
  const cost = `${turns} turns, ${toolCalls} tool calls, ${about}${tokens} tokens, ${
    (activeMs / 1000).toFixed(1)
  } s`;
  const status = style(result.status === "completed" ? "good" : "bad", result.status);
  return `${style("strong", "Task:")} ${taskId} ${status}, ${cost}\n` +
    `Look at it again: fluzo task show ${taskId}; fluzo task diff ${taskId}\n`;
}

/** The report as JSON: `stream-json` ends with it, `json` is it. */
export function reportJson(report: RunReport): Readonly<Record<string, unknown>> {
  const { result } = report;
  const name = exitForResult(result);
  return {
    type: "result",
    schema_version: RESULT_SCHEMA_VERSION,
    status: result.status,
    exit: { code: EXIT_CODES[name], name },
    task_id: report.taskId,
    session_id: report.sessionId,
    answer: result.answer,
    verification: { status: result.verification, command: report.verification },
    changes: result.changes,
    pre_existing: result.preExisting,
    diff: report.diff,
    denials: result.denials,
    uncertainties: result.uncertainties,
    consumption: result.consumption,
    error: result.error === null ? null : errorJson(result.error),
  };
}

/** A failure before there was a task, in the same shape. */
export function failureJson(error: FluzoError): Readonly<Record<string, unknown>> {
  const name = exitFor(error);
  return {
    type: "result",
    schema_version: RESULT_SCHEMA_VERSION,
    status: "not_started",
    exit: { code: EXIT_CODES[name], name },
    task_id: null,
    session_id: null,
    message: describeError(error).what,
    error: errorJson(error),
  };
}
