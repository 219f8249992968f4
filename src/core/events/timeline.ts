import { describeLeft } from "../left_processes.ts";
import { describeError } from "../error_text.ts";
import { describeScope } from "../policy/scope_text.ts";
import type { EventEnvelope } from "./envelope.ts";
import type { RecordedEvent } from "./recorded.ts";

/** One line of a task's timeline. */
export interface TimelineLine {
  readonly sequence: number;
  readonly wallMs: number;
  readonly text: string;
}

/**
 * The timeline of committed events: the same events always give the same lines, one each, in the
 * order of their sequence. Texts of untrusted origin are in it: sanitise where it is shown.
 */
export function timeline(events: readonly EventEnvelope[]): readonly TimelineLine[] {
  return events.toSorted((a, b) => a.sequence - b.sequence).map(({ sequence, wallMs, event }) => ({
    sequence,
    wallMs,
    text: describeEvent(event),
  }));
}

/** One event in one line. */
export function describeEvent(event: RecordedEvent): string {
  switch (event.type) {
    case "workspace_recorded":
      return `workspace ${event.root}`;
    case "session_created":
      return `session begun: ${event.title}`;
    case "task_created":
      return `task created${event.yolo ? ", YOLO" : ""}: ${event.goal.split("\n")[0] ?? ""}`;
    case "task_moved":
      return `task ${event.from} -> ${event.to}${
        event.reason === null ? "" : ` (${event.reason})`
      }`;
    case "task_ended":
      return `task ended: ${event.result.status}, verification ${event.result.verification}`;
    case "budget_consumed": {
      const { turns, toolCalls, tokens } = event.consumption;
      return `consumed ${turns} turns, ${toolCalls} tool calls, ${tokens} tokens in all`;
    }
    case "limits_extended":
      return `limits extended: ${event.limits.maxTurns} turns, ${event.limits.maxToolCalls} tool ` +
        `calls, ${event.limits.maxTotalTokens} tokens, ${event.limits.maxActiveSeconds} s`;
    case "yolo_set":
      return `YOLO ${event.on ? "on" : "off"}`;
    case "intervention_queued":
      return `message queued: ${event.text.split("\n")[0] ?? ""}`;
    case "intervention_edited":
      return `queued message changed: ${event.text.split("\n")[0] ?? ""}`;
    case "intervention_removed":
      return "queued message taken back";
    case "intervention_consumed":
      return "queued message given to the model";
    case "attempt_started":
      return `attempt ${event.number} begun on ${event.model}, trace ${event.traceId}` +
        (event.previousTraceId === null ? "" : `, goes on from trace ${event.previousTraceId}`);
    case "attempt_ended":
      return `attempt ended: ${event.outcome}${
        event.error === null ? "" : `: ${describeError(event.error).what}`
      }`;
    case "config_recorded":
      return `configuration ${event.fingerprint.slice(0, 12)}`;
    case "baseline_recorded":
      return `baseline: ${event.baseline.git}, ${event.baseline.entries.length} changed paths`;
    case "message_recorded":
      return `message of ${event.role}, ${event.contentBytes} bytes`;
    case "message_started":
      return "answer begun";
    case "message_checkpointed":
      return `answer continued to ${event.offset + event.units} characters`;
    case "message_completed":
      return `answer ended: ${event.end}`;
    case "request_reserved":
      return `request to ${event.origin}${event.retry === 0 ? "" : `, retry ${event.retry}`}, ` +
        `about ${event.estimatedInputTokens} input tokens`;
    case "request_dispatched":
      return `request sent, ${event.bodyBytes} bytes`;
    case "request_ended":
      return `request ${event.outcome}${
        event.error === null ? "" : `: ${describeError(event.error).what}`
      }`;
    case "operation_requested":
      return `asked: ${event.tool}: ${describeScope(event.scope)}`;
    case "operation_authorized":
      return `allowed by ${event.evidence.map(({ type }) => type).join(", ")}`;
    case "operation_denied":
      return `denied: ${event.reason}`;
    case "operation_intended":
      return event.preImage === null ? "intent recorded" : "intent recorded, pre-image kept";
    case "operation_dispatched":
      return "performing";
    case "process_started":
      return `process ${event.pid} started`;
    case "processes_left":
      return describeLeft(event.left) ?? "no process of it is left";
    case "operation_finished":
      return `${event.outcome}: ${event.summary}`;
    case "operation_unknown":
      return `outcome unknown: ${event.detail}`;
    case "operation_settled":
      return event.decision === "accepted"
        ? "unknown outcome accepted as it is"
        : "unknown outcome: to be done again";
    case "operation_cancelled":
      return `not performed: ${event.reason}`;
    case "grant_issued":
      return `granted for ${
        event.grant.lifetime === "once" ? "once" : "the task"
      }: ${event.grant.key}`;
    case "grant_ended":
      return `grant ${event.state}`;
    case "artifact_recorded":
      return `kept ${event.artifact.kind}, ${event.artifact.sizeBytes} bytes`;
    case "verification_ended":
      return `verification ${event.passed ? "passed" : "failed"} (round ${event.round})`;
    case "cancel_requested":
      return `cancellation asked for by ${event.by}`;
    case "force_stop_requested":
      return `force stop asked for by ${event.by}`;
    case "history_purged":
      return `session ${event.sessionId} deleted: ${event.contents.events} events, ` +
        `${event.contents.artifacts} artifacts`;
  }
}
