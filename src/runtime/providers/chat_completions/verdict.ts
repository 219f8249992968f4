import type { AnswerEnd } from "../../../core/conversation/message.ts";

/** How the transport of a stream ended. */
export type TransportEnd = "clean" | "reset" | "timeout" | "aborted";

/** What was seen of a stream. */
export interface StreamEnd {
  /** The first finish reason that was not null; null when none came. */
  readonly finish: string | null;
  readonly done: boolean;
  readonly transport: TransportEnd;
  readonly calls: number;
  readonly anyOutput: boolean;
  /** Reported output tokens reached the limit that was asked for. */
  readonly atOutputLimit: boolean;
}

/**
 * What a stream's end means. Only `stop` and `tool_calls` are complete; nothing of any other answer
 * may run. That arguments happen to parse is no proof that a call is whole.
 */
export function judgeEnd(end: StreamEnd): AnswerEnd | "empty" {
  if (end.transport === "aborted") return "cancelled";
  if (end.finish === null) {
    return !end.anyOutput && end.calls === 0 && end.transport === "clean" ? "empty" : "incomplete";
  }
  switch (end.finish) {
    case "length":
    case "model_length":
    case "max_tokens":
      return "length";
    case "content_filter":
      return "content_filter";
    case "error":
    case "insufficient_system_resource":
      return "error";
    case "tool_calls":
    case "function_call":
      if (end.atOutputLimit) return "length";
      return end.calls > 0 ? "tool_calls" : end.anyOutput ? "stop" : "empty";
    default:
      // `stop`, an empty reason or a vendor's own word: an ordinary end.
      if (end.atOutputLimit) return "length";
      return end.calls > 0 ? "tool_calls" : end.anyOutput ? "stop" : "empty";
  }
}
