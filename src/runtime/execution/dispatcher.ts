import { checkToolCall } from "../../core/budget/budget.ts";
import { availableInput } from "../../core/budget/estimate.ts";
import type { ToolCall, ToolResultMessage } from "../../core/conversation/message.ts";
import type { FluzoError } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import type { Artifact, DomainEvent } from "../../core/events/event.ts";
import { FluzoFailure } from "../../core/errors.ts";
import type { ArtifactId, OperationId } from "../../core/ids.ts";
import { decide, type Evaluation } from "../../core/policy/decide.ts";
import { grantFlag } from "../../core/policy/grant_request.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import { Sanitizer } from "../../core/text/sanitizer.ts";
import { truncateMiddle } from "../../core/text/truncate.ts";
import { ERROR_TYPE, FLUZO, GEN_AI, METRICS } from "../../core/telemetry/names.ts";
import { formatAgentsTexts } from "../context/agents_files.ts";
import { findTool } from "../tools/catalog.ts";
import type { PreparedOperation, ToolReport } from "../tools/tool.ts";
import type { Attempt, Ending } from "./attempt.ts";

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

/**
 * Intent, effect and outcome of one authorised operation. Used by the model's calls and by the
 * verification, so that both are journaled the same way.
 *
 * @returns The report and the events that record the outcome, for the caller to commit together
 * with what it makes of them; null when the run was cancelled before the effect began.
 */
export async function performJournaled(
  attempt: Attempt,
  operation: {
    readonly operationId: OperationId;
    readonly prepared: PreparedOperation;
    /** Events that lead to the intent, committed with it. */
    readonly before: readonly DomainEvent[];
    readonly consumes: Extract<DomainEvent, { type: "operation_intended" }>["consumes"];
    readonly tool: string;
    readonly callId: string;
  },
): Promise<{ readonly report: ToolReport; readonly after: readonly DomainEvent[] } | null> {
  const { operationId, prepared } = operation;
  const { journal, services, cancel } = attempt;
  const span = services.telemetry.span(`execute_tool ${operation.tool}`, {
    kind: "internal",
    parent: attempt.span,
    attributes: {
      [GEN_AI.operationName]: "execute_tool",
      [GEN_AI.toolName]: operation.tool,
      [GEN_AI.toolType]: "function",
      [GEN_AI.toolCallId]: operation.callId,
      [GEN_AI.conversationId]: attempt.plan.sessionId,
      [FLUZO.operationId]: operationId,
    },
  });
  const startMs = services.clock.monotonicMs();
  const preImage = await keepPreImage(attempt, operation);
  await journal.append([
    ...operation.before,
    ...(preImage === null ? [] : [{ type: "artifact_recorded", artifact: preImage } as const]),
    {
      type: "operation_intended",
      operationId,
      consumes: operation.consumes,
      preImage: preImage?.id ?? null,
      before: prepared.before,
      after: prepared.after,
    },
  ], span.context);
  if (operation.consumes !== null) markConsumed(attempt, operation.consumes);
  if (cancel.signal.aborted) {
    await prepared.discard();
    await journal.append([{ type: "operation_cancelled", operationId, reason: "cancelled" }]);
    span.end("cancelled");
    return null;
  }
  attempt.inFlight = { operationId, callId: operation.callId };
  await journal.append([{ type: "operation_dispatched", operationId }], span.context);
  const started: Promise<void>[] = [];
  const shown = new Sanitizer();
  const redact = services.redactor.stream();
  const report = await prepared.perform({
    signal: cancel.signal,
    onStarted: (pid) => {
      started.push(journal.append([{ type: "process_started", operationId, pid }], span.context));
    },
    onOutput: (text) => {
      const clean = shown.push(redact.push(text));
      if (clean === "") return;
      services.updates.publish(attempt.plan.taskId, { type: "output", operationId, text: clean });
    },
  });
  await Promise.all(started);
  noteFirstVersion(attempt, { prepared, preImage, report });
  const capture = await keepCapture(attempt, report);
  const errorType = report.outcome === "ok" ? null : "tool_error";
  span.end(errorType);
  services.telemetry.record(
    METRICS.toolDuration,
    (services.clock.monotonicMs() - startMs) / 1000,
    {
      [GEN_AI.toolName]: operation.tool,
      [GEN_AI.toolType]: "function",
      ...(errorType === null ? {} : { [ERROR_TYPE]: errorType }),
    },
  );
  const after: DomainEvent[] = [];
  if (capture !== null) after.push({ type: "artifact_recorded", artifact: capture });
  after.push({
    type: "operation_finished",
    operationId,
    outcome: report.outcome,
    summary: services.redactor.redact(report.summary),
    artifacts: capture === null ? [] : [capture.id],
    exitCode: report.exitCode,
  });
  return { report, after };
}

/** Keeps the bytes a change would lose, before the intent names them. */
async function keepPreImage(
  attempt: Attempt,
  { prepared }: { readonly prepared: PreparedOperation },
): Promise<Artifact | null> {
  if (prepared.preImage === null) return null;
  if (attempt.services.redactor.foundIn(new TextDecoder().decode(prepared.preImage))) return null;
  return await putArtifact(attempt, {
    kind: "pre_image",
    bytes: prepared.preImage,
    droppedBytes: 0,
  });
}

/** Keeps captured output that is too long for the model to see whole. */
async function keepCapture(attempt: Attempt, report: ToolReport): Promise<Artifact | null> {
  const { capture } = report;
  if (capture === null || capture.bytes.byteLength <= resultCap(attempt)) return null;
  const text = attempt.services.redactor.redact(new TextDecoder().decode(capture.bytes));
  return await putArtifact(attempt, {
    kind: "process_output",
    bytes: new TextEncoder().encode(text),
    droppedBytes: capture.droppedBytes,
  });
}

/**
 * Writes a blob.
 *
 * @throws {FluzoFailure} With a storage error.
 */
export async function putArtifact(
  attempt: Attempt,
  { kind, bytes, droppedBytes }: {
    readonly kind: Artifact["kind"];
    readonly bytes: Uint8Array;
    readonly droppedBytes: number;
  },
): Promise<Artifact> {
  const id: ArtifactId = attempt.services.ids.next("artifact");
  const put = await attempt.services.writer.putArtifact({ id, kind, droppedBytes }, bytes);
  if (!put.ok) throw new FluzoFailure(put.error);
  return put.value;
}

function markConsumed(attempt: Attempt, id: string): void {
  const index = attempt.grants.findIndex((grant) => grant.id === id);
  const grant = attempt.grants[index];
  if (grant !== undefined) attempt.grants[index] = { ...grant, state: "consumed" };
}

function noteFirstVersion(
  attempt: Attempt,
  { prepared, preImage, report }: {
    readonly prepared: PreparedOperation;
    readonly preImage: Artifact | null;
    readonly report: ToolReport;
  },
): void {
  const { scope } = prepared;
  if (scope.type !== "file" || report.outcome !== "ok") return;
  if (!attempt.firstVersions.has(scope.path)) {
    if (prepared.before === "absent") attempt.firstVersions.set(scope.path, { type: "absent" });
    else if (preImage !== null) {
      attempt.firstVersions.set(scope.path, { type: "kept", artifact: preImage.id });
    } else if (prepared.preImage !== null) {
      attempt.firstVersions.set(scope.path, { type: "withheld" });
    } else attempt.firstVersions.set(scope.path, { type: "absent" });
  }
  if (scope.to !== null && !attempt.firstVersions.has(scope.to)) {
    attempt.firstVersions.set(scope.to, { type: "absent" });
  }
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

/** Bytes one result may take: the configured cap, at most a quarter of the free input. */
export function resultCap(attempt: Attempt): number {
  const { plan, conversation, services } = attempt;
  const free = availableInput(plan.contextWindow, plan.maxOutputTokens) -
    conversation.estimatedTokens;
  const quarter = Math.floor(Math.max(0, free) * 3 / 4);
  return Math.max(MIN_RESULT_BYTES, Math.min(services.effects.caps.contextBytes, quarter));
}

/** Smallest result that still tells the model something, in bytes. */
const MIN_RESULT_BYTES = 512;

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
