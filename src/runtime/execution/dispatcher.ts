import { checkToolCall } from "../../core/budget/budget.ts";
import type { ToolCall, ToolResultMessage } from "../../core/conversation/message.ts";
import type { FluzoError } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { OperationId } from "../../core/ids.ts";
import { decide, type Evaluation, type Evidence } from "../../core/policy/decide.ts";
import { grantFlag } from "../../core/policy/grant_request.ts";
import { approvalKey, type OperationScope } from "../../core/policy/scope.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import { formatAgentsTexts } from "../context/agents_files.ts";
import { findTool } from "../tools/catalog.ts";
import type { PreparedOperation, Tool } from "../tools/tool.ts";
import { askUser } from "./ask_user.ts";
import type { Attempt, Ending } from "./attempt.ts";
import { recordResult } from "./call_result.ts";
import { performJournaled } from "./perform.ts";

export type DispatchOutcome =
  | { readonly type: "result"; readonly message: ToolResultMessage }
  | { readonly type: "stop"; readonly ending: Ending };

/**
 * The one place that performs operations. For each call: prepare (nothing changes), decide, commit
 * the intent with the grant it uses, check once more that nobody cancelled, perform, commit the
 * outcome. An operation without a durable intent is never performed.
 */
export async function dispatch(attempt: Attempt, call: ToolCall): Promise<DispatchOutcome> {
  const exhausted = checkToolCall(attempt.limits, attempt.consumption);
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
  return await decideAndPerform(attempt, { call, operationId, tool, prepared: prepared.value });
}

interface Candidate {
  readonly call: ToolCall;
  readonly operationId: OperationId;
  readonly tool: Tool;
  readonly prepared: PreparedOperation;
}

async function decideAndPerform(
  attempt: Attempt,
  candidate: Candidate,
): Promise<DispatchOutcome> {
  const { call, operationId, prepared } = candidate;
  const requested: DomainEvent = {
    type: "operation_requested",
    operationId,
    attemptId: attempt.plan.attemptId,
    callId: call.id,
    tool: call.name,
    scope: prepared.scope,
  };
  const unread = await unreadInstructions(attempt, prepared);
  if (unread !== null) {
    await prepared.discard();
    return await answer(attempt, call, { outcome: "error", text: unread });
  }
  const evaluation = evaluate(attempt, prepared.scope);
  switch (evaluation.decision) {
    case "allow":
      return await perform(attempt, { ...candidate, evaluation, before: [requested] });
    case "deny":
      return await refuse(attempt, {
        ...candidate,
        evidence: evaluation.evidence,
        before: [requested],
        reason: DENIED_BY_CONFIGURATION,
        flag: "",
      });
    case "ask":
      switch (attempt.plan.onAsk) {
        case "wait":
          return await ask(attempt, { ...candidate, requested });
        case "deny":
          return await refuse(attempt, {
            ...candidate,
            evidence: evaluation.evidence,
            before: [requested],
            reason: "it needs the user's permission, which nobody can give in this run",
            flag: grantFlag(prepared.scope),
          });
        case "block":
          return await block(attempt, { ...candidate, requested });
      }
  }
}

const DENIED_BY_CONFIGURATION = "the configuration denies it";

function evaluate({ plan, grants, yolo }: Attempt, scope: OperationScope): Evaluation {
  return decide({ scope, settings: plan.policy, grants, yolo });
}

/** Waits for the user's answer. What it allows is looked at once more before it is done. */
async function ask(
  attempt: Attempt,
  candidate: Candidate & { readonly requested: DomainEvent },
): Promise<DispatchOutcome> {
  const { operationId, prepared, requested } = candidate;
  await prepared.discard();
  const answered = await askUser(attempt, { operationId, scope: prepared.scope, requested });
  switch (answered.type) {
    case "cancelled":
      return { type: "stop", ending: { type: "cancelled", by: attempt.cancel.by ?? "user" } };
    case "denied":
      return await refuse(attempt, {
        ...candidate,
        evidence: [{ type: "answer", decision: "deny" }],
        before: [],
        reason: answered.reason === "" ? "the user said no" : `the user said: ${answered.reason}`,
        flag: "",
      });
    case "approved":
      return await performApproved(attempt, candidate);
  }
}

/**
 * Performs what was approved, if it is still the same: prepared again from the same call, it must
 * come out as the scope the user saw, and the rules of now must allow it.
 */
async function performApproved(
  attempt: Attempt,
  candidate: Candidate,
): Promise<DispatchOutcome> {
  const { call, operationId, tool } = candidate;
  const { effects } = attempt.services;
  const prepared = await tool.prepare(call.argumentsText, { effects, operationId });
  if (!prepared.ok) return await invalidate(attempt, { ...candidate, text: prepared.error.text });
  const { scope } = prepared.value;
  const evaluation = evaluate(attempt, scope);
  if (approvalKey(scope) === approvalKey(candidate.prepared.scope)) {
    switch (evaluation.decision) {
      case "allow":
        return await perform(attempt, {
          ...candidate,
          prepared: prepared.value,
          evaluation,
          before: [],
        });
      case "deny":
        return await refuse(attempt, {
          ...candidate,
          prepared: prepared.value,
          evidence: evaluation.evidence,
          before: [],
          reason: DENIED_BY_CONFIGURATION,
          flag: "",
        });
      case "ask":
        // The answer was taken back before it was used.
        break;
    }
  }
  await prepared.value.discard();
  return await invalidate(attempt, {
    ...candidate,
    text:
      "Not done: something it depends on changed after the user allowed it. Look, then ask again.",
  });
}

/** Gives up an operation whose approval no longer fits, and the approval with it. */
async function invalidate(
  attempt: Attempt,
  { call, operationId, prepared, text }: Candidate & { readonly text: string },
): Promise<DispatchOutcome> {
  const key = approvalKey(prepared.scope);
  const unused = attempt.grants.filter((grant) =>
    grant.state === "active" && grant.source === "approval" && grant.key === key
  );
  for (const { id } of unused) attempt.endGrant(id, "expired");
  return await answer(attempt, call, { outcome: "error", text }, [
    { type: "operation_cancelled", operationId, reason: "invalidated" },
    ...unused.map(({ id }) => ({ type: "grant_ended", grantId: id, state: "expired" } as const)),
  ]);
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
  { call, operationId, prepared, before, evidence, reason, flag }: Candidate & {
    /** Events that lead to the denial. */
    readonly before: readonly DomainEvent[];
    readonly evidence: readonly Evidence[];
    readonly reason: string;
    /** The flag that would allow it; empty when nothing would. */
    readonly flag: string;
  },
): Promise<DispatchOutcome> {
  await prepared.discard();
  const scope = describeScope(prepared.scope);
  attempt.deny({ kind: "permission", operationId, tool: call.name, scope, reason, flag });
  return await answer(
    attempt,
    call,
    { outcome: "denied", text: `Denied: ${reason}. Do not try it in another form.` },
    [...before, { type: "operation_denied", operationId, evidence, reason }],
  );
}

async function perform(
  attempt: Attempt,
  { call, operationId, prepared, before, evaluation }: Candidate & {
    /** Events that lead to the authorisation. */
    readonly before: readonly DomainEvent[];
    readonly evaluation: Evaluation;
  },
): Promise<DispatchOutcome> {
  const report = await performJournaled(attempt, {
    operationId,
    prepared,
    before: [
      ...before,
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
    { outcome: report.report.outcome, text: report.report.text + instructions },
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

async function answer(
  attempt: Attempt,
  call: ToolCall,
  result: { readonly outcome: ToolResultMessage["outcome"]; readonly text: string },
  events: readonly DomainEvent[] = [],
): Promise<DispatchOutcome> {
  return { type: "result", message: await recordResult(attempt, call, { ...result, events }) };
}
