import { checkToolCall } from "../../core/budget/budget.ts";
import type { ToolCall, ToolResultMessage } from "../../core/conversation/message.ts";
import type { FluzoError } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { OperationId } from "../../core/ids.ts";
import { decide, type Evaluation } from "../../core/policy/decide.ts";
import { grantFlag } from "../../core/policy/grant_request.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import { truncateMiddle } from "../../core/text/truncate.ts";
import { formatAgentsTexts } from "../context/agents_files.ts";
import { findTool } from "../tools/catalog.ts";
import type { PreparedOperation } from "../tools/tool.ts";
import type { Attempt, Ending } from "./attempt.ts";
import { performJournaled, resultCap } from "./perform.ts";

export type DispatchOutcome =
  | { readonly type: "result"; readonly message: ToolResultMessage }
  | { readonly type: "stop"; readonly ending: Ending };

/**
 * The one place that performs operations. For each call: prepare (nothing changes), decide, commit
 * the intent with the grant it uses, check once more that nobody cancelled, perform, commit the
 * outcome. An operation without a durable intent is never performed.
 */
export async function dispatch(attempt: Attempt, call: ToolCall): Promise<DispatchOutcome> {
  const exhausted = checkToolCall(attempt.plan.limits, attempt.consumption);
  if (exhausted !== null) {
    const error: FluzoError = { type: "budget_exhausted", ...exhausted };
    return { type: "stop", ending: { type: "blocked", reason: "budget_exhausted", error } };
  }
  attempt.consume({ toolCalls: 1 });
  if (call.invalid !== null) {
    return await answer(attempt, call, { outcome: "error", text: call.invalid });
  }
  const tool = findTool(call.name);
  if (tool === null) {
    const text = `There is no tool "${call.name}"`;
    return await answer(attempt, call, { outcome: "error", text });
  }
  const operationId = attempt.services.ids.next("operation");
  const { effects } = attempt.services;
  const prepared = await tool.prepare(call.argumentsText, { effects, operationId });
  if (!prepared.ok) {
    noteRefusal(attempt, { operationId, tool: call.name, error: prepared.error.error });
    return await answer(attempt, call, { outcome: "error", text: prepared.error.text });
  }
  return await decideAndPerform(attempt, { call, operationId, prepared: prepared.value });
}

interface Candidate {
  readonly call: ToolCall;
  readonly operationId: OperationId;
  readonly prepared: PreparedOperation;
}

async function decideAndPerform(
  attempt: Attempt,
  candidate: Candidate,
): Promise<DispatchOutcome> {
  const { call, operationId, prepared } = candidate;
  const { plan } = attempt;
  const requested: DomainEvent = {
    type: "operation_requested",
    operationId,
    attemptId: plan.attemptId,
    callId: call.id,
    tool: call.name,
    scope: prepared.scope,
  };
  const unread = await unreadInstructions(attempt, prepared);
  if (unread !== null) {
    await prepared.discard();
    return await answer(attempt, call, { outcome: "error", text: unread });
  }
  const evaluation = decide({
    scope: prepared.scope,
    settings: plan.policy,
    grants: attempt.grants,
    yolo: plan.yolo,
  });
  switch (evaluation.decision) {
    case "allow":
      return await perform(attempt, { ...candidate, requested, evaluation });
    case "deny":
      return await refuse(attempt, {
        ...candidate,
        requested,
        evaluation,
        reason: "the configuration denies it",
      });
    case "ask":
      if (plan.onAsk === "deny") {
        return await refuse(attempt, {
          ...candidate,
          requested,
          evaluation,
          reason: "it needs the user's permission, which nobody can give in this run",
        });
      }
      return await block(attempt, { ...candidate, requested });
  }
}

/** Stores the operation as asked for and ends the run: it never waits for an answer. */
async function block(
  attempt: Attempt,
  { operationId, prepared, requested, call }: Candidate & { readonly requested: DomainEvent },
): Promise<DispatchOutcome> {
  await prepared.discard();
  await attempt.journal.append([requested]);
  const scope = describeScope(prepared.scope);
  const flag = grantFlag(prepared.scope);
  attempt.deny({
    kind: "permission",
    operationId,
    tool: call.name,
    scope,
    reason: "it needs your permission",
    flag,
  });
  const error: FluzoError = {
    type: "permission_required",
    taskId: attempt.plan.taskId,
    operationId,
    scope,
    flag,
  };
  return { type: "stop", ending: { type: "blocked", reason: "permission_required", error } };
}

async function refuse(
  attempt: Attempt,
  { call, operationId, prepared, requested, evaluation, reason }: Candidate & {
    readonly requested: DomainEvent;
    readonly evaluation: Evaluation;
    readonly reason: string;
  },
): Promise<DispatchOutcome> {
  await prepared.discard();
  const { evidence } = evaluation;
  const scope = describeScope(prepared.scope);
  const flag = evaluation.decision === "ask" ? grantFlag(prepared.scope) : "";
  attempt.deny({ kind: "permission", operationId, tool: call.name, scope, reason, flag });
  return await answer(
    attempt,
    call,
    { outcome: "denied", text: `Denied: ${reason}. Do not try it in another form.` },
    [requested, { type: "operation_denied", operationId, evidence, reason }],
  );
}

async function perform(
  attempt: Attempt,
  { call, operationId, prepared, requested, evaluation }: Candidate & {
    readonly requested: DomainEvent;
    readonly evaluation: Evaluation;
  },
): Promise<DispatchOutcome> {
  const report = await performJournaled(attempt, {
    operationId,
    prepared,
    before: [
      requested,
      { type: "operation_authorized", operationId, evidence: evaluation.evidence },
    ],
    consumes: evaluation.grant?.lifetime === "once" ? evaluation.grant.id : null,
    tool: call.name,
    callId: call.id,
  });
  if (report === null) {
    return { type: "stop", ending: { type: "cancelled", by: attempt.cancel.by ?? "user" } };
  }
  noteRefusal(attempt, { operationId, tool: call.name, error: report.report.error });
  const instructions = await newInstructions(attempt, prepared);
  return await answer(
    attempt,
    call,
    {
      outcome: report.report.outcome === "ok" ? "ok" : report.report.outcome,
      text: report.report.text + instructions,
    },
    report.after,
  );
}

/** A file refusal is a denial that the result must list, whichever tool met it. */
function noteRefusal(
  attempt: Attempt,
  { operationId, tool, error }: {
    readonly operationId: OperationId;
    readonly tool: string;
    readonly error: FluzoError | null;
  },
): void {
  if (error === null || error.type !== "workspace") return;
  switch (error.reason) {
    case "outside_workspace":
    case "magic_link":
    case "protected_path":
    case "special_file":
    case "multiply_linked":
    case "through_link":
      attempt.deny({
        kind: "confinement",
        operationId,
        tool,
        scope: error.path,
        reason: describeError(error).what,
        flag: "",
      });
      return;
    default:
      return;
  }
}

/** Instructions of the subtree that the model must see before it writes there. */
async function unreadInstructions(
  attempt: Attempt,
  { scope }: PreparedOperation,
): Promise<string | null> {
  if (scope.type !== "file") return null;
  const texts = await attempt.agents.forPath(scope.to ?? scope.path);
  if (texts.length === 0) return null;
  return `Not done yet: read these instructions first, then call again.\n${
    formatAgentsTexts(texts)
  }`;
}

/** Instructions of the subtree that an inspection has just entered. */
async function newInstructions(attempt: Attempt, { scope }: PreparedOperation): Promise<string> {
  if (scope.type !== "inspect") return "";
  const texts = await attempt.agents.forPath(scope.path);
  return texts.length === 0 ? "" : `\n${formatAgentsTexts(texts)}`;
}

/** Commits the result of a call with everything that led to it, and gives it to the model. */
async function answer(
  attempt: Attempt,
  call: ToolCall,
  result: { readonly outcome: ToolResultMessage["outcome"]; readonly text: string },
  events: readonly DomainEvent[] = [],
): Promise<DispatchOutcome> {
  const { services, plan } = attempt;
  const message: ToolResultMessage = {
    role: "tool",
    callId: call.id,
    name: call.name,
    text: truncateMiddle(services.redactor.redact(result.text), resultCap(attempt)),
    outcome: result.outcome,
  };
  await attempt.journal.append([
    ...events,
    {
      type: "message_recorded",
      messageId: services.ids.next("message"),
      sessionId: plan.sessionId,
      taskId: plan.taskId,
      message,
    },
    { type: "budget_consumed", taskId: plan.taskId, consumption: attempt.consumption },
  ]);
  attempt.inFlight = null;
  attempt.conversation.add(message);
  return { type: "result", message };
}
