import type { Message, ToolCall, ToolDefinition } from "../../core/conversation/message.ts";
import { estimateTokens, type ReportedSize } from "../../core/budget/estimate.ts";
import { utf8Length } from "../../core/text/truncate.ts";

/** Bytes that the wire format adds around one message. */
const MESSAGE_OVERHEAD_BYTES = 32;

/**
 * What the model sees, kept in order, with its size known at any time: adding a message costs the
 * size of that message, never the size of the history.
 */
export class Conversation {
  readonly #messages: Message[] = [];
  readonly #callIds = new Set<string>();
  readonly #toolBytes: number;
  #bytes = 0;
  #seen: ReportedSize | null = null;

  constructor(tools: readonly ToolDefinition[]) {
    this.#toolBytes = utf8Length(JSON.stringify(tools));
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get usedCallIds(): ReadonlySet<string> {
    return this.#callIds;
  }

  /** Size of messages and tools as JSON, to within the wire format's punctuation. */
  get bytes(): number {
    return this.#bytes + this.#toolBytes;
  }

  /** Input tokens of the next request, corrected by what the server last reported. */
  get estimatedTokens(): number {
    return estimateTokens(this.bytes, this.#seen);
  }

  add(message: Message): void {
    this.#messages.push(message);
    this.#bytes += utf8Length(JSON.stringify(message)) + MESSAGE_OVERHEAD_BYTES;
    if (message.role === "assistant") {
      for (const call of message.toolCalls) this.#callIds.add(call.id);
    }
  }

  /** Learns from a request of `bytes` that the server counted as `inputTokens`. */
  noteReported(size: ReportedSize): void {
    this.#seen = size;
  }
}

/** Calls of the newest answer that have no result. */
export function unansweredCalls(messages: readonly Message[]): readonly ToolCall[] {
  const index = messages.findLastIndex(({ role }) => role === "assistant");
  const newest = messages[index];
  if (newest?.role !== "assistant") return [];
  const answered = new Set(
    messages.slice(index).flatMap((message) => message.role === "tool" ? [message.callId] : []),
  );
  return newest.toolCalls.filter(({ id }) => !answered.has(id));
}

/**
 * History as it may be sent again: an answer that did not complete runs nothing, so its calls are
 * left out; a call that has no result (its run was cut off) gets one that says so; and a result
 * whose call is not there any more goes with it.
 *
 * @param open Calls that get their results before anything is sent.
 */
export function repairHistory(
  messages: readonly Message[],
  open: ReadonlySet<string> = new Set(),
): Message[] {
  const answered = new Set(open);
  for (const message of messages) if (message.role === "tool") answered.add(message.callId);
  const made = new Set<string>();
  const repaired: Message[] = [];
  for (const message of messages) {
    if (message.role !== "assistant") {
      if (message.role !== "tool" || made.has(message.callId)) repaired.push(message);
      continue;
    }
    const complete = message.end === "stop" || message.end === "tool_calls";
    const toolCalls = complete ? message.toolCalls : [];
    if (message.text === "" && toolCalls.length === 0) continue;
    repaired.push({ ...message, toolCalls });
    for (const call of toolCalls) {
      made.add(call.id);
      if (answered.has(call.id)) continue;
      repaired.push({
        role: "tool",
        callId: call.id,
        name: call.name,
        text: "Interrupted: it is not known whether this had effects. Look before you go on.",
        outcome: "interrupted",
      });
    }
  }
  return repaired;
}
