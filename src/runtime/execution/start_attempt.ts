import type { BudgetLimits } from "../../core/budget/budget.ts";
import { NO_CONSUMPTION } from "../../core/budget/budget.ts";
import type { Message } from "../../core/conversation/message.ts";
import type { Digest } from "../../core/digest.ts";
import type { Baseline, DomainEvent } from "../../core/events/event.ts";
import type { InstanceId, SnapshotId } from "../../core/ids.ts";
import type { Grant } from "../../core/policy/grant.ts";
import { grantKey, type GrantRequest } from "../../core/policy/grant_request.ts";
import { FLUZO, GEN_AI, SPANS } from "../../core/telemetry/names.ts";
import type { Span } from "../../core/telemetry/telemetry.ts";
import { AgentsFiles, formatAgentsTexts } from "../context/agents_files.ts";
import { Conversation, repairHistory } from "../context/conversation.ts";
import { taskMessage } from "../context/initial_context.ts";
import SYSTEM_PROMPT from "../context/system_prompt.md" with { type: "text" };
import { TOOL_DEFINITIONS } from "../tools/catalog.ts";
import { Attempt, type AttemptPlan, type AttemptServices, type CancelSignal } from "./attempt.ts";
import { TaskJournal } from "./task_journal.ts";

/** Characters of a goal that make a session's title. */
const TITLE_LENGTH = 80;

/** Everything that is known when a task begins. */
export interface TaskStart {
  readonly plan: AttemptPlan;
  readonly goal: string;
  readonly grants: readonly GrantRequest[];
  readonly baseline: Baseline;
  readonly cancel: CancelSignal;
  readonly instanceId: InstanceId;
  readonly workspace: Extract<DomainEvent, { type: "workspace_recorded" }>;
  readonly snapshot: {
    readonly id: SnapshotId;
    readonly fingerprint: Digest;
    readonly settings: unknown;
  };
  /** The conversation so far; null begins a session. */
  readonly history: readonly Message[] | null;
}

/**
 * Writes down a new task with its first attempt, in one transaction: its goal, limits, grants,
 * configuration and baseline are durable before anything is asked of a model.
 */
export async function startAttempt(
  start: TaskStart,
  services: AttemptServices,
): Promise<{ readonly attempt: Attempt; readonly span: Span }> {
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
      [FLUZO.attemptNumber]: 1,
    },
  });
  const trace = { traceId: span.context.traceId, spanId: span.context.spanId };
  const journal = new TaskJournal(services, {
    sessionId: plan.sessionId,
    taskId: plan.taskId,
    attemptId: plan.attemptId,
    ...trace,
  });
  // The first events make their owners, so they cannot belong to them yet.
  const beginnings = new TaskJournal(services, {
    sessionId: null,
    taskId: null,
    attemptId: null,
    ...trace,
  });
  const agents = new AgentsFiles(services.effects.files);
  const conversation = await openConversation(start, { agents, redact: services.redactor.redact });
  const message = {
    role: "user",
    text: services.redactor.redact(taskMessage(start.goal, {
      baseline: start.baseline,
      grants: start.grants,
      verification: plan.verification,
      yolo: plan.yolo,
      onAsk: plan.onAsk,
    })),
  } as const;
  const grants = start.grants.map((request): Grant => ({
    id: services.ids.next("grant"),
    ...grantKey(request),
    source: "command_line",
    lifetime: "task",
    state: "active",
  }));
  await beginnings.append([
    ...beginning(start, services.redactor.redact(start.goal)),
    ...grants.map((grant) => ({ type: "grant_issued", taskId: plan.taskId, grant } as const)),
    {
      type: "attempt_started",
      attemptId: plan.attemptId,
      taskId: plan.taskId,
      number: 1,
      traceId: span.context.traceId,
      instanceId: start.instanceId,
      snapshotId: start.snapshot.id,
      model: plan.endpoint.model,
    },
    { type: "baseline_recorded", attemptId: plan.attemptId, baseline: start.baseline },
    { type: "task_moved", taskId: plan.taskId, from: "ready", to: "running", reason: null },
    {
      type: "message_recorded",
      messageId: services.ids.next("message"),
      sessionId: plan.sessionId,
      taskId: plan.taskId,
      message,
    },
  ]);
  conversation.add(message);
  const attempt = new Attempt({
    plan,
    services,
    journal,
    conversation,
    agents,
    baseline: start.baseline,
    span: span.context,
    cancel: start.cancel,
    grants,
    consumption: NO_CONSUMPTION,
  });
  return { attempt, span };
}

function beginning(start: TaskStart, goal: string): DomainEvent[] {
  const { plan, snapshot } = start;
  const limits: BudgetLimits = plan.limits;
  const events: DomainEvent[] = [start.workspace];
  if (start.history === null) {
    const title = goal.split("\n")[0]?.slice(0, TITLE_LENGTH) ?? "";
    events.push({ type: "session_created", sessionId: plan.sessionId, title });
  }
  events.push(
    {
      type: "task_created",
      taskId: plan.taskId,
      sessionId: plan.sessionId,
      goal,
      limits,
      verification: plan.verification,
      yolo: plan.yolo,
    },
    {
      type: "config_recorded",
      snapshotId: snapshot.id,
      fingerprint: snapshot.fingerprint,
      settings: snapshot.settings,
    },
    { type: "task_moved", taskId: plan.taskId, from: "pending", to: "ready", reason: null },
  );
  return events;
}

/** The system prompt with the root's instructions, then the session's history. */
async function openConversation(
  start: TaskStart,
  { agents, redact }: {
    readonly agents: AgentsFiles;
    readonly redact: (text: string) => string;
  },
): Promise<Conversation> {
  const conversation = new Conversation(TOOL_DEFINITIONS);
  const instructions = formatAgentsTexts(await agents.forPath("."));
  const text = instructions === ""
    ? SYSTEM_PROMPT.trim()
    : `${SYSTEM_PROMPT.trim()}\n\n${redact(instructions)}`;
  conversation.add({ role: "system", text });
  for (const message of repairHistory(start.history ?? [])) conversation.add(message);
  return conversation;
}
