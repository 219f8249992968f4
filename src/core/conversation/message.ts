/** The conversation as it is stored and sent: plain data, after redaction, before sanitising. */

/** A complete, assembled call. `argumentsText` is valid JSON object text, also for a failed call. */
export interface ToolCall {
  /** Non-empty and unique in the whole conversation. */
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
  /** Why the call must not run: the model is told instead. Null for a call that parsed. */
  readonly invalid: string | null;
}

/** How an answer ended. Only `stop` and `tool_calls` are complete. */
export const ANSWER_ENDS = [
  "stop",
  "tool_calls",
  "length",
  "content_filter",
  "error",
  "incomplete",
  "cancelled",
] as const;
export type AnswerEnd = typeof ANSWER_ENDS[number];

export interface SystemMessage {
  readonly role: "system";
  readonly text: string;
}
export interface UserMessage {
  readonly role: "user";
  readonly text: string;
}
export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  /** Private: never in telemetry, fed back only where the model profile says so. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly end: AnswerEnd;
}
export interface ToolResultMessage {
  readonly role: "tool";
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly outcome: "ok" | "error" | "denied" | "interrupted";
}
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage;

/** A tool as the model sees it. `parameters` is a JSON Schema object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}
