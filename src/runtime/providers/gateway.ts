import type { Clock, Timers } from "../../core/clock.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { AttemptId, IdSource, RequestId } from "../../core/ids.ts";
import { err, ok, type Result } from "../../core/result.ts";
import {
  ERROR_TYPE,
  FLUZO,
  GEN_AI,
  HTTP_METHOD,
  HTTP_RESEND_COUNT,
  HTTP_STATUS,
  LOGS,
  METRICS,
  SERVER_ADDRESS,
  SERVER_PORT,
  SPANS,
} from "../../core/telemetry/names.ts";
import type { Attributes, Span, SpanContext, Telemetry } from "../../core/telemetry/telemetry.ts";
import type { AdmissionQueue, Lease } from "../admission/admission_queue.ts";
import type {
  ChatAdapter,
  ChatAnswer,
  ChatFailure,
  ChatRequest,
  ModelEndpoint,
  StreamDelta,
} from "./provider.ts";
import { retryDelayMs } from "./retry.ts";

/** One logical inference: what to ask, of whom, and in whose name. */
export interface Inference {
  readonly purpose: "agent_turn" | "capability_probe";
  readonly attemptId: AttemptId;
  readonly conversationId: string;
  readonly endpoint: ModelEndpoint;
  readonly capacityId: string;
  readonly pool: string;
  readonly chat: ChatRequest;
  readonly estimatedInputTokens: number;
  /** Size of messages and tools, for the journal and for the token estimate. */
  readonly bodyBytes: number;
  readonly maxRetries: number;
}

export interface InferenceHooks {
  readonly parent: SpanContext;
  readonly signal: AbortSignal;
  /** Commits events; resolves once they are durable, throws when they are not. */
  readonly append: (events: readonly DomainEvent[], span: SpanContext) => Promise<unknown>;
  /** Called before each physical request: an error stops the inference before it is sent. */
  readonly checkBudget: () => FluzoError | null;
  readonly onRequest: (requestId: RequestId) => void;
  readonly onDelta: (delta: StreamDelta) => void;
  readonly onRetry: (failure: ChatFailure, delayMs: number) => void;
}

/** A failed inference. `chat` is null when no request was sent. */
export interface InferenceFailure {
  readonly error: FluzoError;
  readonly chat: ChatFailure | null;
}

/**
 * The one route to inference. Each physical request is admitted, journaled before it is sent and
 * journaled again when it ended; a request without evidence of its end keeps its slot.
 */
export class ProviderGateway {
  readonly #adapter: ChatAdapter;
  readonly #admission: AdmissionQueue;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #ids: IdSource;
  readonly #telemetry: Telemetry;

  constructor(services: {
    readonly adapter: ChatAdapter;
    readonly admission: AdmissionQueue;
    readonly clock: Clock;
    readonly timers: Timers;
    readonly ids: IdSource;
    readonly telemetry: Telemetry;
  }) {
    this.#adapter = services.adapter;
    this.#admission = services.admission;
    this.#clock = services.clock;
    this.#timers = services.timers;
    this.#ids = services.ids;
    this.#telemetry = services.telemetry;
  }

  /** Asks the model, with at most `maxRetries` more tries for safe transient failures. */
  async infer(
    inference: Inference,
    hooks: InferenceHooks,
  ): Promise<Result<ChatAnswer, InferenceFailure>> {
    const attributes = requestAttributes(inference);
    const span = this.#telemetry.span(`chat ${inference.endpoint.model}`, {
      kind: "client",
      parent: hooks.parent,
      attributes: {
        ...attributes,
        [GEN_AI.conversationId]: inference.conversationId,
        [GEN_AI.requestMaxTokens]: inference.chat.maxOutputTokens,
        [FLUZO.inferencePurpose]: inference.purpose,
        ...(inference.endpoint.profile.stream ? { [GEN_AI.requestStream]: true } : {}),
      },
    });
    const startMs = this.#clock.monotonicMs();
    const result = await this.#tryAll(inference, { hooks, span });
    this.#report(result, { inference, span, attributes, startMs });
    return result;
  }

  async #tryAll(
    inference: Inference,
    { hooks, span }: { readonly hooks: InferenceHooks; readonly span: Span },
  ): Promise<Result<ChatAnswer, InferenceFailure>> {
    for (let retry = 0;; retry++) {
      const refused = hooks.checkBudget();
      if (refused !== null) return err({ error: refused, chat: null });
      const result = await this.#tryOnce(inference, { hooks, span, retry });
      if (result.ok || result.error.chat === null || retry >= inference.maxRetries) return result;
      const delayMs = retryDelayMs(result.error.chat, retry);
      if (delayMs === null || hooks.signal.aborted) return result;
      hooks.onRetry(result.error.chat, delayMs);
      await this.#wait(delayMs, hooks.signal);
      if (hooks.signal.aborted) return result;
    }
  }

  async #tryOnce(
    inference: Inference,
    { hooks, span, retry }: {
      readonly hooks: InferenceHooks;
      readonly span: Span;
      readonly retry: number;
    },
  ): Promise<Result<ChatAnswer, InferenceFailure>> {
    const requestId = this.#ids.next("request");
    const lease = await this.#admit(inference, { hooks, span, requestId });
    if (!lease.ok) return lease;
    try {
      await hooks.append([
        {
          type: "request_reserved",
          requestId,
          attemptId: inference.attemptId,
          purpose: inference.purpose,
          model: inference.endpoint.model,
          origin: new URL(inference.endpoint.baseUrl).origin,
          capacityId: inference.capacityId,
          pool: inference.pool,
          retry,
          estimatedInputTokens: inference.estimatedInputTokens,
        },
        { type: "request_dispatched", requestId, bodyBytes: inference.bodyBytes },
      ], span.context);
    } catch (failure) {
      lease.value.release();
      throw failure;
    }
    return await this.#exchange(inference, { hooks, span, retry, requestId, lease: lease.value });
  }

  async #admit(
    inference: Inference,
    { hooks, span, requestId }: {
      readonly hooks: InferenceHooks;
      readonly span: Span;
      readonly requestId: RequestId;
    },
  ): Promise<Result<Lease, InferenceFailure>> {
    const waiting = this.#telemetry.span(SPANS.admission, {
      kind: "internal",
      parent: span.context,
      attributes: {},
    });
    const lease = await this.#admission.acquire({
      id: requestId,
      capacityId: inference.capacityId,
      pool: inference.pool,
      priority: "foreground",
    }, hooks.signal);
    waiting.set({ [FLUZO.admissionOutcome]: lease.ok ? "admitted" : lease.error.type });
    waiting.end(lease.ok ? null : lease.error.type);
    return lease.ok ? lease : err({ error: lease.error, chat: null });
  }

  async #exchange(
    inference: Inference,
    { hooks, span, retry, requestId, lease }: {
      readonly hooks: InferenceHooks;
      readonly span: Span;
      readonly retry: number;
      readonly requestId: RequestId;
      readonly lease: Lease;
    },
  ): Promise<Result<ChatAnswer, InferenceFailure>> {
    hooks.onRequest(requestId);
    const attempt = this.#telemetry.span(SPANS.httpAttempt, {
      kind: "client",
      parent: span.context,
      attributes: {
        [HTTP_METHOD]: "POST",
        ...serverAttributes(inference.endpoint),
        ...(retry > 0 ? { [HTTP_RESEND_COUNT]: retry } : {}),
      },
    });
    const result = await this.#adapter.send(inference.endpoint, inference.chat, {
      onDelta: hooks.onDelta,
      signal: hooks.signal,
    });
    const certain = result.ok || !result.error.dispatched || result.error.error.ended;
    if (certain) lease.release();
    else lease.markUncertain();
    const error = result.ok ? null : result.error.error;
    const answer = result.ok ? result.value : result.error.partial;
    if (error !== null && error.status !== null) attempt.set({ [HTTP_STATUS]: error.status });
    if (result.ok) attempt.set({ [HTTP_STATUS]: 200 });
    attempt.end(error === null ? null : errorType(error));
    await hooks.append([{
      type: "request_ended",
      requestId,
      outcome: certain ? "complete" : "uncertain",
      usage: answer.usage,
      rawFinish: answer.rawFinish,
      error,
    }], span.context);
    return result.ok ? ok(result.value) : err({ error: result.error.error, chat: result.error });
  }

  #wait(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel();
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const cancel = this.#timers.after(delayMs, finish);
      signal.addEventListener("abort", finish, { once: true });
    });
  }

  /** Closes the span and records each metric once for the logical operation. */
  #report(
    result: Result<ChatAnswer, InferenceFailure>,
    { inference, span, attributes, startMs }: {
      readonly inference: Inference;
      readonly span: Span;
      readonly attributes: Attributes;
      readonly startMs: number;
    },
  ): void {
    const failure = result.ok ? null : errorType(result.error.error);
    const answer = result.ok ? result.value : result.error.chat?.partial ?? null;
    const seconds = (this.#clock.monotonicMs() - startMs) / 1000;
    if (answer !== null) this.#reportAnswer(answer, { inference, span, attributes });
    this.#telemetry.record(METRICS.operationDuration, seconds, {
      ...attributes,
      ...(failure === null ? {} : { [ERROR_TYPE]: failure }),
    });
    if (result.ok) {
      const { inputTokens, outputTokens } = result.value.usage;
      if (inputTokens !== null) {
        this.#telemetry.record(METRICS.operationInputTokens, inputTokens, attributes);
      }
      if (outputTokens !== null) {
        this.#telemetry.record(METRICS.operationOutputTokens, outputTokens, attributes);
      }
    } else {
      this.#telemetry.log({
        severity: "warn",
        name: LOGS.exception,
        attributes: { [ERROR_TYPE]: failure ?? "_OTHER" },
        context: span.context,
      });
    }
    span.end(failure);
  }

  #reportAnswer(
    answer: ChatAnswer,
    { inference, span, attributes }: {
      readonly inference: Inference;
      readonly span: Span;
      readonly attributes: Attributes;
    },
  ): void {
    const { usage } = answer;
    const counted = { ...attributes, [GEN_AI.tokenModality]: "unknown" };
    for (
      const [value, attribute, metric] of [
        [usage.inputTokens, GEN_AI.inputTokens, METRICS.inputTokens],
        [usage.outputTokens, GEN_AI.outputTokens, METRICS.outputTokens],
        [usage.cachedInputTokens, GEN_AI.cacheReadInputTokens, METRICS.cacheReadTokens],
        [usage.cacheWriteTokens, GEN_AI.cacheWriteInputTokens, METRICS.cacheWriteTokens],
        [usage.reasoningTokens, GEN_AI.reasoningOutputTokens, METRICS.reasoningTokens],
      ] as const
    ) {
      if (value === null) continue;
      span.set({ [attribute]: value });
      this.#telemetry.count(metric, value, counted);
    }
    if (answer.responseId !== null) span.set({ [GEN_AI.responseId]: answer.responseId });
    if (answer.responseModel !== null) span.set({ [GEN_AI.responseModel]: answer.responseModel });
    span.set({ [GEN_AI.responseFinishReasons]: [finishReason(answer)] });
    if (answer.firstChunkMs !== null && inference.endpoint.profile.stream) {
      const seconds = answer.firstChunkMs / 1000;
      span.set({ [GEN_AI.timeToFirstChunk]: seconds });
      this.#telemetry.record(METRICS.timeToFirstChunk, seconds, attributes);
    }
  }
}

/** The attribute set that spans and metrics of an inference share. */
function requestAttributes({ endpoint }: Inference): Attributes {
  return {
    [GEN_AI.operationName]: "chat",
    [GEN_AI.providerName]: "openai_compatible",
    [GEN_AI.requestModel]: endpoint.model,
    ...serverAttributes(endpoint),
  };
}

function serverAttributes(endpoint: ModelEndpoint): Attributes {
  const url = new URL(endpoint.baseUrl);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { [SERVER_ADDRESS]: url.hostname, [SERVER_PORT]: port };
}

function finishReason({ end }: ChatAnswer): string {
  switch (end) {
    case "tool_calls":
      return "tool_call";
    case "stop":
    case "length":
    case "content_filter":
    case "error":
      return end;
    case "incomplete":
    case "cancelled":
      return "error";
  }
}

/** The low-cardinality word for a failure: documented in `docs/telemetry.md`. */
function errorType(error: FluzoError): string {
  if (error.type !== "provider") return error.type;
  if (error.status !== null && error.status !== 200) return String(error.status);
  switch (error.reason) {
    case "connection_failed":
      return "connection_error";
    case "first_output_timeout":
    case "idle_timeout":
    case "request_timeout":
      return "timeout";
    case "stream_error":
      return "stream_error";
    case "incomplete_stream":
      return "incomplete_stream";
    case "protocol_error":
      return "invalid_response";
    default:
      return "_OTHER";
  }
}
