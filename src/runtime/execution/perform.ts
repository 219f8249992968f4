import { availableInput } from "../../core/budget/estimate.ts";
import { FluzoFailure } from "../../core/errors.ts";
import type { Artifact, DomainEvent } from "../../core/events/event.ts";
import type { ArtifactId, OperationId } from "../../core/ids.ts";
import { describeLeft, redactLeft } from "../../core/left_processes.ts";
import type { SpanContext } from "../../core/telemetry/telemetry.ts";
import { ERROR_TYPE, FLUZO, GEN_AI, METRICS } from "../../core/telemetry/names.ts";
import { Sanitizer } from "../../core/text/sanitizer.ts";
import type { PreparedOperation, ToolReport } from "../tools/tool.ts";
import type { LiveOutput } from "./live_output.ts";
import type { Attempt } from "./attempt.ts";

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
  if (operation.consumes !== null) attempt.endGrant(operation.consumes, "consumed");
  if (cancel.signal.aborted) {
    await prepared.discard();
    await journal.append([{ type: "operation_cancelled", operationId, reason: "cancelled" }]);
    span.end("cancelled");
    return null;
  }
  attempt.inFlight = { operationId, callId: operation.callId };
  await journal.append([{ type: "operation_dispatched", operationId }], span.context);
  const report = await performWatched(attempt, { operationId, prepared, span: span.context });
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
  const left = redactLeft(report.left, services.redactor.redact);
  const words = describeLeft(left);
  if (words !== null) {
    after.push({ type: "processes_left", operationId, left });
    attempt.leftBy.add(operationId);
    attempt.uncertainties.push(`When operation ${operationId} was over, it left ${words}`);
  }
  return { report, after };
}

/** Performs, writes down what process runs, and passes on its output as it comes. */
async function performWatched(
  attempt: Attempt,
  { operationId, prepared, span }: {
    readonly operationId: OperationId;
    readonly prepared: PreparedOperation;
    readonly span: SpanContext;
  },
): Promise<ToolReport> {
  const { journal, services, cancel, plan } = attempt;
  const written: Promise<unknown>[] = [];
  const clean = new Sanitizer();
  const redact = services.redactor.stream();
  let live: LiveOutput | null = null;
  try {
    return await prepared.perform({
      signal: cancel.signal,
      force: cancel.forced,
      onStarted: (process) => {
        const event = { type: "process_started", operationId, ...process } as const;
        const writing = journal.append([event], span);
        // Thrown below, once the process is over; nobody waits for it before.
        writing.catch(() => {});
        written.push(writing);
        live = services.outputs.begin(operationId, (text) => {
          services.updates.publish(plan.taskId, { type: "output", operationId, text });
        });
      },
      onOutput: (text) => live?.push(clean.push(redact.push(text))),
    });
  } finally {
    endLive(live, clean.push(redact.end()) + clean.end());
    await Promise.all(written);
  }
}

/** What was held back in case it went on comes last. */
function endLive(live: LiveOutput | null, rest: string): void {
  live?.push(rest);
  live?.end();
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
