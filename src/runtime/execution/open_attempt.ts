import type { Consumption } from "../../core/budget/budget.ts";
import type { Message, ToolCall } from "../../core/conversation/message.ts";
import type { Digest } from "../../core/digest.ts";
import type { Baseline, DomainEvent } from "../../core/events/event.ts";
import type { InstanceId, SnapshotId } from "../../core/ids.ts";
import type { Grant } from "../../core/policy/grant.ts";
import { grantKey, type GrantRequest } from "../../core/policy/grant_request.ts";
import { FLUZO, GEN_AI, SPANS } from "../../core/telemetry/names.ts";
import type { Span } from "../../core/telemetry/telemetry.ts";
import { AgentsFiles, formatAgentsTexts } from "../context/agents_files.ts";
import { Conversation, repairHistory } from "../context/conversation.ts";
import SYSTEM_PROMPT from "../context/system_prompt.md" with { type: "text" };
import { TOOL_DEFINITIONS } from "../tools/catalog.ts";
import {
  Attempt,
  type AttemptPlan,
  type AttemptServices,
  type CancelSignal,
  type FirstVersion,
} from "./attempt.ts";
import { TaskJournal } from "./task_journal.ts";

/** What every attempt begins from. */
export interface AttemptStart {
  readonly plan: AttemptPlan;
  readonly grants: readonly GrantRequest[];
  readonly baseline: Baseline;
  readonly cancel: CancelSignal;
  readonly instanceId: InstanceId;
  readonly snapshot: {
    readonly id: SnapshotId;
    readonly fingerprint: Digest;
    readonly settings: unknown;
  };
}

/** An attempt in the making: nothing of it is durable yet. */
export interface Opening {
  readonly span: Span;
  /** For the first events, which make their owners and cannot belong to them yet. */
  readonly beginnings: TaskJournal;
  readonly conversation: Conversation;
  /** The grants this attempt starts with, and the events that issue them. */
  readonly grants: readonly Grant[];
  readonly grantEvents: readonly DomainEvent[];
  /** The attempt, once its beginning is durable. */
  finish(state: {
    readonly grants: readonly Grant[];
    readonly consumption: Consumption;
    readonly firstVersions: ReadonlyMap<string, FirstVersion>;
  }): Attempt;
}

/** Prepares an attempt: its trace, journals, conversation and grants. Writes nothing. */
export async function openAttempt(
  start: AttemptStart,
  { services, number, history, openCalls, resumedFrom }: {
    readonly services: AttemptServices;
    readonly number: number;
    readonly history: readonly Message[];
    /** Calls of the history that the attempt itself performs first. */
    readonly openCalls: readonly ToolCall[];
    /** Trace of the attempt this one goes on from; null for the first. */
    readonly resumedFrom: string | null;
  },
): Promise<Opening> {
  const { plan } = start;
  const span = services.telemetry.span(SPANS.agent, {
    kind: "internal",
    parent: null,
    attributes: {
      [GEN_AI.operationName]: "invoke_agent",
      [GEN_AI.agentName]: "fluzo",
      [GEN_AI.conversationId]: plan.sessionId,
      [GEN_AI.requestModel]: plan.endpoint.model,
      [FLUZO.taskId]: plan.taskId,
      [FLUZO.attemptNumber]: number,
      ...(resumedFrom === null ? {} : { [FLUZO.resumedTrace]: resumedFrom }),
    },
  });
  const trace = { traceId: span.context.traceId, spanId: span.context.spanId };
  const journal = new TaskJournal(services, {
    sessionId: plan.sessionId,
    taskId: plan.taskId,
    attemptId: plan.attemptId,
    ...trace,
  });
  const nobody = { sessionId: null, taskId: null, attemptId: null };
  const beginnings = new TaskJournal(services, { ...nobody, ...trace });
  const agents = new AgentsFiles(services.effects.files);
  const conversation = new Conversation(TOOL_DEFINITIONS);
  const instructions = formatAgentsTexts(await agents.forPath("."));
  conversation.add({
    role: "system",
    text: instructions === ""
      ? SYSTEM_PROMPT.trim()
      : `${SYSTEM_PROMPT.trim()}\n\n${services.redactor.redact(instructions)}`,
  });
  const open = new Set(openCalls.map(({ id }) => id));
  for (const message of repairHistory(history, open)) conversation.add(message);
  const grants = issueGrants(start, services);
  return {
    span,
    beginnings,
    conversation,
    grants,
    grantEvents: grants.map((grant) => ({ type: "grant_issued", taskId: plan.taskId, grant })),
    finish: (state) =>
      new Attempt({
        plan,
        services,
        journal,
        conversation,
        agents,
        baseline: start.baseline,
        span: span.context,
        cancel: start.cancel,
        ...state,
      }),
  };
}

/** What the command line and the consented configuration allow in this attempt. */
function issueGrants({ plan, grants }: AttemptStart, { ids }: AttemptServices): readonly Grant[] {
  const issue = (source: Grant["source"]) => (request: GrantRequest): Grant => ({
    id: ids.next("grant"),
    ...grantKey(request),
    source,
    lifetime: "task",
    state: "active",
  });
  return [
    ...plan.standingGrants.map(issue("configured")),
    ...grants.map(issue("command_line")),
  ];
}

/** The event that begins an attempt. */
export function attemptStarted(
  { plan, instanceId, snapshot }: AttemptStart,
  { number, traceId, resumedFrom }: {
    readonly number: number;
    readonly traceId: string;
    readonly resumedFrom: string | null;
  },
): DomainEvent {
  return {
    type: "attempt_started",
    attemptId: plan.attemptId,
    taskId: plan.taskId,
    number,
    traceId,
    previousTraceId: resumedFrom,
    instanceId,
    snapshotId: snapshot.id,
    model: plan.endpoint.model,
  };
}

/** The event that records the settings an attempt runs under. */
export function configRecorded({ snapshot }: AttemptStart): DomainEvent {
  return {
    type: "config_recorded",
    snapshotId: snapshot.id,
    fingerprint: snapshot.fingerprint,
    settings: snapshot.settings,
  };
}
