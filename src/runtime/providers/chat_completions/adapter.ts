import type { Clock, Timers } from "../../../core/clock.ts";
import type { ProviderError, ProviderReason } from "../../../core/errors.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import type {
  ChatAdapter,
  ChatAnswer,
  ChatFailure,
  ChatRequest,
  ModelEndpoint,
  StreamDelta,
} from "../provider.ts";
import { AnswerBuilder, type Built } from "./answer_builder.ts";
import { Deadlines } from "./deadlines.ts";
import { type ErrorReply, isErrorValue, readErrorReply } from "./error_reply.ts";
import { requestBody } from "./request_body.ts";
import { readEvents } from "./sse_reader.ts";
import type { TransportEnd } from "./verdict.ts";

/** Longest answer that comes whole, in bytes. */
const MAX_WHOLE_BYTES = 32 << 20;

/**
 * Shortest time between two deliveries of a stream, in milliseconds: under a frame, so nobody sees
 * it, and a fast stream costs its consumers a hundredth.
 */
const DELIVERY_MS = 8;

/** Longest error body that is read, in bytes. */
const MAX_ERROR_BYTES = 64 << 10;

/** What the adapter works with besides the request. */
export interface AdapterServices {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Removes secrets from a server's words. */
  readonly redact: (text: string) => string;
  readonly userAgent: string;
}

/** Chat Completions over HTTP, streamed or not. One call is one physical request. */
export class ChatCompletionsAdapter implements ChatAdapter {
  readonly #services: AdapterServices;

  constructor(services: AdapterServices) {
    this.#services = services;
  }

  async send(
    endpoint: ModelEndpoint,
    request: ChatRequest,
    options: { readonly onDelta: (delta: StreamDelta) => void; readonly signal: AbortSignal },
  ): Promise<Result<ChatAnswer, ChatFailure>> {
    const exchange = new Exchange(endpoint, request, { ...this.#services, ...options });
    try {
      return await exchange.run();
    } finally {
      exchange.close();
    }
  }
}

type ExchangeServices = AdapterServices & {
  readonly onDelta: (delta: StreamDelta) => void;
  readonly signal: AbortSignal;
};

class Exchange {
  readonly #endpoint: ModelEndpoint;
  readonly #request: ChatRequest;
  readonly #services: ExchangeServices;
  readonly #deadlines: Deadlines;
  readonly #builder: AnswerBuilder;
  readonly #startMs: number;
  #firstChunkMs: number | null = null;
  #lastDeliveryMs = -Infinity;
  #cancelDelivery: (() => void) | null = null;

  constructor(endpoint: ModelEndpoint, request: ChatRequest, services: ExchangeServices) {
    this.#endpoint = endpoint;
    this.#request = request;
    this.#services = services;
    this.#startMs = services.clock.monotonicMs();
    this.#deadlines = new Deadlines(endpoint.timeouts, services);
    this.#builder = new AnswerBuilder({
      toolNames: request.tools.map(({ name }) => name),
      maxOutputTokens: request.maxOutputTokens,
    });
  }

  close(): void {
    this.#cancelDelivery?.();
    this.#deadlines.close();
  }

  async run(): Promise<Result<ChatAnswer, ChatFailure>> {
    let response: Response;
    try {
      response = await this.#fetch();
    } catch (failure) {
      return this.#notConnected(failure);
    }
    if (response.status >= 300) return await this.#refused(response);
    const type = (response.headers.get("content-type") ?? "").toLowerCase();
    try {
      if (type.includes("text/event-stream")) return await this.#stream(response);
      return await this.#whole(response, type.includes("json"));
    } catch (failure) {
      return this.#broken(failure, response.status);
    }
  }

  #fetch(): Promise<Response> {
    const { apiKey, profile } = this.#endpoint;
    return fetch(`${this.#endpoint.baseUrl}/chat/completions`, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "accept": profile.stream ? "text/event-stream" : "application/json",
        "accept-encoding": "identity",
        "user-agent": this.#services.userAgent,
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: requestBody(this.#endpoint, this.#request),
      signal: this.#deadlines.signal,
    });
  }

  async #stream(response: Response): Promise<Result<ChatAnswer, ChatFailure>> {
    if (response.body === null) return this.#protocolError("an empty body", response.status);
    let sawEvents = false;
    let transport: TransportEnd = "clean";
    try {
      const rest = await readEvents(response.body, {
        onEvent: (data, name) => {
          sawEvents = true;
          this.#builder.event(data, name);
        },
        onComment: () => this.#deadlines.noteComment(),
        onRead: () => {
          if (!sawEvents) return;
          sawEvents = false;
          const nowMs = this.#services.clock.monotonicMs();
          this.#firstChunkMs ??= nowMs - this.#startMs;
          this.#deadlines.noteEvents(this.#builder.anyOutput);
          this.#deliverSoon(nowMs);
        },
        isFinished: () => this.#builder.finished,
      });
      for (const line of rest.errorLines) this.#builder.outOfBand(readErrorReply(200, line));
      if (rest.overflow !== null) {
        this.#builder.outOfBand({ reason: "protocol_error", detail: rest.overflow });
      }
      const raw = rawError(rest.tail);
      if (raw !== null && !this.#builder.finished) this.#builder.outOfBand(raw);
      else if (rest.events === 0) {
        this.#builder.outOfBand({ reason: "protocol_error", detail: rest.tail || "no event came" });
      }
    } catch (failure) {
      transport = this.#transportOf(failure);
    }
    return this.#conclude(transport, response.status);
  }

  /** A reply that is not a stream: one JSON value, or nothing of the protocol. */
  async #whole(response: Response, json: boolean): Promise<Result<ChatAnswer, ChatFailure>> {
    const text = await readText(response, json ? MAX_WHOLE_BYTES : MAX_ERROR_BYTES);
    if (!json) return this.#protocolError(text, response.status);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.#protocolError(text, response.status);
    }
    this.#firstChunkMs = this.#services.clock.monotonicMs() - this.#startMs;
    this.#builder.value(value);
    this.#deliver();
    this.#builder.event("[DONE]", undefined);
    return this.#conclude("clean", response.status);
  }

  /** Delivers at once after a pause; within a burst, once for every `DELIVERY_MS`. */
  #deliverSoon(nowMs: number): void {
    const waitMs = this.#lastDeliveryMs + DELIVERY_MS - nowMs;
    if (waitMs <= 0) this.#deliver();
    else this.#cancelDelivery ??= this.#services.timers.after(waitMs, () => this.#deliver());
  }

  #deliver(): void {
    this.#cancelDelivery?.();
    this.#cancelDelivery = null;
    this.#lastDeliveryMs = this.#services.clock.monotonicMs();
    const { onDelta } = this.#services;
    const { text, reasoning, status, call } = this.#builder.take();
    if (status !== "") onDelta({ type: "status", text: status });
    if (reasoning !== "") onDelta({ type: "reasoning", text: reasoning });
    if (text !== "") onDelta({ type: "text", text });
    if (call !== null) onDelta(call);
  }

  #conclude(transport: TransportEnd, status: number): Result<ChatAnswer, ChatFailure> {
    const built = this.#builder.finish(transport, {
      usedCallIds: this.#request.usedCallIds,
      firstChunkMs: this.#firstChunkMs,
    });
    this.#deliver();
    const { interruption } = this.#deadlines;
    if (interruption !== null && transport !== "clean" && built.type === "error") {
      return err(this.#interrupted(built.answer, status));
    }
    if (built.type === "answer") return ok(built.answer);
    const error = transport === "reset" && built.error.detail === ""
      ? { ...built.error, detail: "the connection was lost" }
      : built.error;
    return err(this.#failure(error, { answer: built.answer, status, ended: true }));
  }

  #transportOf(failure: unknown): TransportEnd {
    const { interruption } = this.#deadlines;
    if (interruption === null) {
      if (failure instanceof RangeError || failure instanceof ReferenceError) throw failure;
      return "reset";
    }
    return interruption.type === "user" ? "aborted" : "timeout";
  }

  /** A local limit or the user ended it: whether the server still works on it is not known. */
  #interrupted(answer: ChatAnswer, status: number | null): ChatFailure {
    const { interruption } = this.#deadlines;
    const error: ErrorReply = interruption?.type === "timeout"
      ? { reason: interruption.reason, detail: `limit ${interruption.seconds} s` }
      : { reason: "incomplete_stream", detail: "cancelled" };
    return this.#failure(error, { answer, status, ended: false });
  }

  #notConnected(failure: unknown): Result<never, ChatFailure> {
    const answer = this.#emptyAnswer();
    if (this.#deadlines.interruption !== null) return err(this.#interrupted(answer, null));
    if (failure instanceof Deno.errors.NotCapable) {
      const error = this.#failure(
        { reason: "net_permission", detail: "" },
        { answer, status: null, ended: true },
      );
      return err({ ...error, dispatched: false });
    }
    if (!(failure instanceof TypeError)) throw failure;
    return err(this.#failure(
      { reason: "connection_failed", detail: connectionDetail(failure) },
      { answer, status: null, ended: true },
    ));
  }

  async #refused(response: Response): Promise<Result<never, ChatFailure>> {
    const { status } = response;
    const answer = this.#emptyAnswer();
    if (status < 400) {
      // The body of a redirect is not read: it says nothing that is needed.
      await response.body?.cancel();
      return err(this.#failure(
        { reason: "redirect_blocked", detail: redirectTarget(response) },
        { answer, status, ended: true },
      ));
    }
    let body: string;
    try {
      body = await readText(response, MAX_ERROR_BYTES);
    } catch (failure) {
      return this.#broken(failure, status);
    }
    return err(this.#failure(readErrorReply(status, body), { answer, status, ended: true }));
  }

  #broken(failure: unknown, status: number): Result<never, ChatFailure> {
    const transport = this.#transportOf(failure);
    const answer = this.#emptyAnswer();
    if (transport !== "reset") return err(this.#interrupted(answer, status));
    return err(this.#failure(
      { reason: "incomplete_stream", detail: "the connection was lost" },
      { answer, status, ended: true },
    ));
  }

  #protocolError(text: string, status: number): Result<never, ChatFailure> {
    const reply = readErrorReply(200, text);
    const reason: ProviderReason = isErrorValue(parseOrNull(text))
      ? reply.reason
      : "protocol_error";
    return err(this.#failure(
      { reason, detail: reply.detail || "an empty body" },
      { answer: this.#emptyAnswer(), status, ended: true },
    ));
  }

  #failure(
    reply: ErrorReply,
    { answer, status, ended }: {
      readonly answer: ChatAnswer;
      readonly status: number | null;
      readonly ended: boolean;
    },
  ): ChatFailure {
    const error: ProviderError = {
      type: "provider",
      reason: reply.reason,
      origin: new URL(this.#endpoint.baseUrl).origin,
      status,
      detail: this.#services.redact(reply.detail),
      ended,
    };
    return { error, partial: answer, outputBegan: this.#builder.anyOutput, dispatched: true };
  }

  #emptyAnswer(): ChatAnswer {
    const built: Built = this.#builder.finish("reset", {
      usedCallIds: this.#request.usedCallIds,
      firstChunkMs: null,
    });
    return built.answer;
  }
}

/** Raw JSON behind the last event of a stream, when it is an error. */
function rawError(tail: string): ErrorReply | null {
  const text = tail.trim();
  if (text === "" || !/^[[{]/.test(text)) return null;
  const value = parseOrNull(text);
  return value !== null && isErrorValue(value) ? readErrorReply(200, value) : null;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A body as text, at most `maxBytes` of it; the rest is not read. */
async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  let bytes = 0;
  while (bytes < maxBytes) {
    const { value, done } = await reader.read();
    if (done || value === undefined) break;
    bytes += value.byteLength;
    text += decoder.decode(value.subarray(0, value.byteLength - Math.max(0, bytes - maxBytes)), {
      stream: true,
    });
  }
  reader.cancel().catch(() => {});
  return text + decoder.decode();
}

/** Where a redirect points, as an origin: the path may hold what should not be shown. */
function redirectTarget(response: Response): string {
  const location = response.headers.get("location");
  if (location === null) return "";
  return URL.canParse(location, response.url) ? `to ${new URL(location, response.url).origin}` : "";
}

/** The platform's words without the address it repeats. */
function connectionDetail(failure: TypeError): string {
  const words = failure.message.toLowerCase();
  if (words.includes("refused")) return "the connection was refused";
  if (words.includes("reset") || words.includes("closed")) return "the connection was closed";
  if (words.includes("dns") || words.includes("resolve")) return "the name is not known";
  if (words.includes("certificate") || words.includes("tls")) return "the TLS connection failed";
  return "the connection failed";
}
