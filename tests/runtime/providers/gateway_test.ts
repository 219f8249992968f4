import assert from "node:assert/strict";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import type { ProviderReason } from "../../../src/core/errors.ts";
import { err, ok } from "../../../src/core/result.ts";
import { UNKNOWN_USAGE } from "../../../src/core/usage.ts";
import { AdmissionQueue } from "../../../src/runtime/admission/admission_queue.ts";
import { type Inference, ProviderGateway } from "../../../src/runtime/providers/gateway.ts";
import type { ChatAdapter, ChatAnswer } from "../../../src/runtime/providers/provider.ts";
import { RecordingTelemetry } from "../../../src/runtime/telemetry/recording.ts";
import { countingIds } from "../../support/ids.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const ANSWER: ChatAnswer = {
  text: "a",
  reasoning: "",
  toolCalls: [],
  end: "stop",
  rawFinish: "stop",
  usage: { ...UNKNOWN_USAGE, inputTokens: 10, outputTokens: 2 },
  responseId: "r",
  responseModel: "served",
  firstChunkMs: 5,
  notes: [],
};

type Reply = "ok" | {
  readonly reason: ProviderReason;
  readonly ended?: boolean;
  readonly began?: boolean;
};

function fail({ reason, ended = true, began = false }: Exclude<Reply, "ok">) {
  return err({
    error: {
      type: "provider",
      reason,
      origin: "http://x",
      status: null,
      detail: "",
      ended,
    } as const,
    partial: { ...ANSWER, usage: UNKNOWN_USAGE },
    outputBegan: began,
    dispatched: true,
  });
}

/** A gateway whose adapter gives the scripted replies. */
function setUp(replies: readonly Reply[]) {
  const clock = new ManualClock();
  const ids = countingIds();
  const telemetry = new RecordingTelemetry(clock);
  const events: DomainEvent[] = [];
  let sent = 0;
  const adapter: ChatAdapter = {
    send: () => {
      assert.equal(events.at(-1)?.type, "request_dispatched", "sent before it was durable");
      const reply = replies[sent++] ?? "ok";
      return Promise.resolve(reply === "ok" ? ok(ANSWER) : fail(reply));
    },
  };
  const limits = {
    capacities: new Map([["c", { maxInFlight: 1 }]]),
    pools: new Map([["p", {
      maxInFlight: 1,
      foregroundReservedSlots: 1,
      queueCapacity: 1,
      queueTimeoutMs: 1000,
    }]]),
  };
  const admission = new AdmissionQueue(limits, { clock, timers: clock });
  const gateway = new ProviderGateway({ adapter, admission, clock, timers: clock, ids, telemetry });
  const inference: Inference = {
    purpose: "agent_turn",
    attemptId: ids.next("attempt"),
    conversationId: "ses",
    endpoint: {
      modelKey: "coder",
      baseUrl: "http://127.0.0.1:8080/v1",
      model: "m",
      apiKey: "sk-SENTINEL",
      profile: {
        maxTokensField: "max_tokens",
        stream: true,
        streamUsage: true,
        replayReasoning: false,
        temperature: null,
      },
      timeouts: { connectMs: 1, firstOutputMs: 1, idleMs: 1, requestMs: 1 },
    },
    capacityId: "c",
    pool: "p",
    chat: { messages: [], tools: [], maxOutputTokens: 100, usedCallIds: new Set() },
    estimatedInputTokens: 5,
    bodyBytes: 50,
    maxRetries: 2,
  };
  const delays: number[] = [];
  const infer = () =>
    gateway.infer(inference, {
      parent: { traceId: "a".repeat(32), spanId: "b".repeat(16) },
      signal: new AbortController().signal,
      append: (batch) => {
        events.push(...batch);
        return Promise.resolve();
      },
      checkBudget: () => null,
      onRequest: () => {},
      onDelta: () => {},
      onRetry: (_failure, delayMs) => {
        delays.push(delayMs);
        // The wait begins after this call returns.
        queueMicrotask(() => queueMicrotask(() => clock.advance(delayMs)));
      },
    });
  return { infer, events, telemetry, delays, sent: () => sent };
}

Deno.test("gateway: each request is in the journal before it is sent, and when it ended", async () => {
  const { infer, events } = setUp(["ok"]);
  assert.ok((await infer()).ok);
  assert.deepEqual(events.map(({ type }) => type), [
    "request_reserved",
    "request_dispatched",
    "request_ended",
  ]);
});

Deno.test("gateway: transient failures are tried again after 1 s and 2 s, then given up", async () => {
  const busy = { reason: "unavailable" } as const;
  const recovered = setUp([busy, { reason: "loading" }, "ok"]);
  assert.ok((await recovered.infer()).ok);
  assert.deepEqual(recovered.delays, [1000, 2000]);
  const lost = setUp([busy, busy, busy, "ok"]);
  assert.ok(!(await lost.infer()).ok);
  assert.equal(lost.sent(), 3);
});

Deno.test("gateway: limits, refusals and begun answers are never tried again", async () => {
  const never: readonly Exclude<Reply, "ok">[] = [
    { reason: "rate_limited" },
    { reason: "quota_exhausted" },
    { reason: "capacity_rejected" },
    { reason: "authentication" },
    { reason: "invalid_request" },
    { reason: "redirect_blocked" },
    { reason: "context_overflow" },
    { reason: "stream_error" },
    { reason: "idle_timeout", ended: false },
    { reason: "unavailable", began: true },
    { reason: "incomplete_stream", began: true },
  ];
  for (const reply of never) {
    const { infer, sent } = setUp([reply, "ok"]);
    assert.ok(!(await infer()).ok, reply.reason);
    assert.equal(sent(), 1, reply.reason);
  }
});

Deno.test("gateway: a request without proof of its end keeps its slot, and a retry says so", async () => {
  const { infer, events, sent } = setUp([{ reason: "first_output_timeout", ended: false }]);
  const first = await infer();
  assert.ok(!first.ok);
  assert.equal(first.error.error.type, "capacity_exhausted");
  assert.equal(sent(), 1);
  const ended = events.find(({ type }) => type === "request_ended");
  assert.equal(ended?.type === "request_ended" && ended.outcome, "uncertain");
});

Deno.test("gateway: one span for the operation, one for each request, usage counted once", async () => {
  const { infer, telemetry } = setUp([{ reason: "unavailable" }, "ok"]);
  await infer();
  assert.deepEqual(telemetry.spans.map(({ name, errorType }) => [name, errorType]), [
    ["chat m", null],
    ["fluzo.admission", null],
    ["POST", "_OTHER"],
    ["fluzo.admission", null],
    ["POST", null],
  ]);
  const [chat] = telemetry.spans;
  assert.equal(chat?.attributes["gen_ai.usage.input_tokens"], 10);
  assert.equal(chat?.attributes["server.port"], 8080);
  assert.equal(telemetry.spans[4]?.attributes["http.request.resend_count"], 1);
  assert.deepEqual(
    telemetry.counts.map(({ metric, value }) => [metric, value]),
    [
      ["gen_ai.client.inference.usage.input_tokens", 10],
      ["gen_ai.client.inference.usage.output_tokens", 2],
    ],
  );
  const durations = telemetry.measurements.filter(({ metric }) =>
    metric === "gen_ai.client.operation.duration"
  );
  assert.equal(durations.length, 1);
  assert.doesNotMatch(JSON.stringify(telemetry), /SENTINEL/);
});
