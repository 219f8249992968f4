import type { ProviderError } from "../../core/errors.ts";
import type {
  AnswerEnd,
  Message,
  ToolCall,
  ToolDefinition,
} from "../../core/conversation/message.ts";
import type { Usage } from "../../core/usage.ts";
import type { Result } from "../../core/result.ts";

/** What differs between servers of one protocol; all from the model's settings. */
export interface ModelProfile {
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly stream: boolean;
  /** Sends `stream_options.include_usage`. */
  readonly streamUsage: boolean;
  /** Sends earlier reasoning back to the model. */
  readonly replayReasoning: boolean;
  /** Null: not sent. */
  readonly temperature: number | null;
}

/** All in milliseconds. `connect` bounds the time to response headers only where it can be told apart. */
export interface ProviderTimeouts {
  readonly connectMs: number;
  readonly firstOutputMs: number;
  readonly idleMs: number;
  readonly requestMs: number;
}

/** A consented destination, resolved: the only thing an adapter may contact. */
export interface ModelEndpoint {
  /** The key below `models` in the configuration. */
  readonly modelKey: string;
  /** Without a trailing slash, for example `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  /** The id the server knows the model by. */
  readonly model: string;
  /** Sent as a bearer token, to `baseUrl`'s origin only. Null: no authentication. */
  readonly apiKey: string | null;
  readonly profile: ModelProfile;
  readonly timeouts: ProviderTimeouts;
}

/** One logical exchange. */
export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly maxOutputTokens: number;
  /** Ids already used in the conversation; new ones are renamed when they collide. */
  readonly usedCallIds: ReadonlySet<string>;
}

/** What arrives while an answer streams. Raw: redacted by the caller at capture, sanitised when shown. */
export type StreamDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | {
    readonly type: "tool_call";
    readonly slot: number;
    readonly name: string;
    readonly bytes: number;
  }
  /** A word from a server that is still loading the model (llama-swap); never part of the answer. */
  | { readonly type: "status"; readonly text: string };

/** A whole answer. `end` other than `stop` or `tool_calls` means: run nothing. */
export interface ChatAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly end: AnswerEnd;
  /** The server's own finish reason, for the journal. */
  readonly rawFinish: string | null;
  readonly usage: Usage;
  readonly responseId: string | null;
  readonly responseModel: string | null;
  /** From dispatch to the first parsed event; null when none came. */
  readonly firstChunkMs: number | null;
  /** Deviations that were tolerated, one short line each. */
  readonly notes: readonly string[];
}

/** A failed exchange keeps what arrived. `outputBegan` forbids a retry. */
export interface ChatFailure {
  readonly error: ProviderError;
  readonly partial: ChatAnswer;
  readonly outputBegan: boolean;
  /** True when bytes may have reached the server. False only when the connection never stood. */
  readonly dispatched: boolean;
}

/**
 * One physical request over one wire protocol. Contract: never throws for anything a server, the
 * network or the caller's abort does; never follows a redirect; never retries; returns once the
 * socket is closed or handed back. On abort it returns a failure with `error.ended` false.
 */
export interface ChatAdapter {
  send(
    endpoint: ModelEndpoint,
    request: ChatRequest,
    options: { readonly onDelta: (delta: StreamDelta) => void; readonly signal: AbortSignal },
  ): Promise<Result<ChatAnswer, ChatFailure>>;
}
