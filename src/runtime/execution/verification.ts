import type { DomainEvent } from "../../core/events/event.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { gitActionOf } from "../../core/policy/git_command.ts";
import { FLUZO, LOGS, SPANS } from "../../core/telemetry/names.ts";
import { truncateMiddle } from "../../core/text/truncate.ts";
import { prepareCommand } from "../tools/command.ts";
import type { Attempt } from "./attempt.ts";
import { performJournaled, resultCap } from "./perform.ts";

export type VerificationOutcome =
  | { readonly type: "passed" }
  /** `output` is what the model gets to see of it, within its cap. */
  | { readonly type: "failed"; readonly exitCode: number | null; readonly output: string }
  | { readonly type: "cancelled" };

/**
 * Runs the task's verification contract. The runtime runs it, not the model: it was consented to
 * with the configuration, or given by the user with the task. It is journaled like any operation.
 */
export async function verify(attempt: Attempt, round: number): Promise<VerificationOutcome> {
  const { plan, services } = attempt;
  const operationId = services.ids.next("operation");
  const span = services.telemetry.span(SPANS.verification, {
    kind: "internal",
    parent: attempt.span,
    attributes: { [FLUZO.verificationRound]: round },
  });
  const prepared = await prepareCommand({
    operationId,
    mode: "direct",
    argv: plan.verification,
    cwd: ".",
    timeoutMs: services.effects.caps.shellTimeoutMs,
  }, services.effects);
  if (!prepared.ok) {
    // A program that is not there cannot pass: say so where the outcome is looked for.
    await attempt.journal.append([
      requested(attempt, operationId),
      {
        type: "operation_cancelled",
        operationId,
        reason: "invalidated",
      },
      { type: "verification_ended", taskId: plan.taskId, round, passed: false, operationId },
    ]);
    span.end("verification_failed");
    return { type: "failed", exitCode: null, output: prepared.error.text };
  }
  const performed = await performJournaled(attempt, {
    operationId,
    prepared: prepared.value,
    before: [
      { ...requested(attempt, operationId), scope: prepared.value.scope },
      {
        type: "operation_authorized",
        operationId,
        evidence: [{ type: "verification_contract", decision: "allow" }],
      },
    ],
    consumes: null,
    tool: "verify",
    callId: operationId,
  });
  if (performed === null) {
    span.end("cancelled");
    return { type: "cancelled" };
  }
  const { report, after } = performed;
  const passed = report.outcome === "ok";
  await attempt.journal.append([
    ...after,
    { type: "verification_ended", taskId: plan.taskId, round, passed, operationId },
  ]);
  attempt.inFlight = null;
  span.set({ [FLUZO.verificationPassed]: passed });
  span.end(passed ? null : "verification_failed");
  services.telemetry.log({
    severity: passed ? "info" : "warn",
    name: LOGS.verificationEnded,
    attributes: { [FLUZO.verificationPassed]: passed, [FLUZO.verificationRound]: round },
    context: span.context,
  });
  if (report.outcome === "interrupted") return { type: "cancelled" };
  if (passed) return { type: "passed" };
  const output = truncateMiddle(services.redactor.redact(report.text), resultCap(attempt));
  return { type: "failed", exitCode: report.exitCode, output };
}

function requested(
  attempt: Attempt,
  operationId: Extract<DomainEvent, { type: "operation_requested" }>["operationId"],
): Extract<DomainEvent, { type: "operation_requested" }> {
  const { plan } = attempt;
  return {
    type: "operation_requested",
    operationId,
    attemptId: plan.attemptId,
    callId: operationId,
    tool: "verify",
    scope: {
      type: "command",
      mode: "direct",
      argv: plan.verification,
      cwd: ".",
      env: [],
      git: gitActionOf(plan.verification),
      // Not looked up, or not found: the outcome tells which.
      binding: "",
    },
  };
}

/** What the model is told about a failed verification. */
export function repairRequest(
  command: readonly string[],
  outcome: Extract<VerificationOutcome, { type: "failed" }>,
): string {
  return [
    `The verification failed: ${formatCommand(command)}`,
    outcome.output,
    "Find the cause and correct it, then finish again.",
  ].join("\n");
}
