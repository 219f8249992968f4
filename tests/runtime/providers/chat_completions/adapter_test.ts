import assert from "node:assert/strict";
import type { ProviderReason } from "../../../../src/core/errors.ts";
import { ChatCompletionsAdapter } from "../../../../src/runtime/providers/chat_completions/adapter.ts";
import type {
  ChatAnswer,
  ChatFailure,
  ModelEndpoint,
  StreamDelta,
} from "../../../../src/runtime/providers/provider.ts";
import type { Result } from "../../../../src/core/result.ts";
import { systemClock, systemTimers } from "../../../../src/runtime/system_clock.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { http, type RawReply, RawServer, sse } from "../../../support/raw_server.ts";

const KEY = "sk-test-0123456789";

interface Sent {
  readonly result: Result<ChatAnswer, ChatFailure>;
  readonly deltas: readonly StreamDelta[];
  readonly requests: readonly string[];
}

async function send(
  reply: RawReply,
  options: {
    readonly signal?: AbortSignal;
    readonly clock?: ManualClock;
    readonly onDelta?: (delta: StreamDelta) => void;
    readonly apiKey?: string | null;
    readonly stream?: boolean;
  } = {},
): Promise<Sent> {
  await using server = new RawServer([reply]);
  const deltas: StreamDelta[] = [];
  const adapter = new ChatCompletionsAdapter({
    clock: options.clock ?? systemClock,
    timers: options.clock ?? systemTimers,
    redact: (text) => text.replaceAll(KEY, "[redacted]"),
    userAgent: "fluzo/test",
  });
  const endpoint: ModelEndpoint = {
    modelKey: "coder",
    baseUrl: `${server.origin}/v1`,
    model: "m",
    apiKey: options.apiKey ?? null,
    profile: {
      maxTokensField: "max_tokens",
      stream: options.stream ?? true,
      streamUsage: true,
      replayReasoning: false,
      temperature: null,
    },
    timeouts: { connectMs: 10_000, firstOutputMs: 90_000, idleMs: 30_000, requestMs: 180_000 },
  };
  const result = await adapter.send(endpoint, {
    messages: [{ role: "user", text: "hi" }],
    tools: [{ name: "read", description: "", parameters: {} }],
    maxOutputTokens: 100,
    usedCallIds: new Set(),
  }, {
    signal: options.signal ?? new AbortController().signal,
    onDelta: (delta) => {
      deltas.push(delta);
      options.onDelta?.(delta);
    },
  });
  return { result, deltas, requests: server.requests };
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function chunk(delta: unknown, finish: string | null = null, extra: object = {}): string {
  return data({
    id: "x",
    object: "chat.completion.chunk",
    model: "served",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...extra,
  });
}

const CALL = { tool_calls: [{ index: 0, id: "c1", function: { name: "read", arguments: "{}" } }] };
const DONE = "data: [DONE]\n\n";
const STOP = chunk({}, "stop");

/** Each row: a stream, and what it comes to: `end text calls`, or the reason it failed for. */
const STREAMS: readonly (readonly [name: string, body: string, expected: string])[] = [
  ["text", chunk({ content: "a" }) + chunk({ content: "b" }) + STOP + DONE, "stop ab 0"],
  [
    "llama.cpp order",
    chunk({ role: "assistant", content: null }) + chunk({ content: "a" }) + STOP +
    data({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }) + DONE,
    "stop a 0",
  ],
  ["no [DONE] (R47)", chunk({ content: "a" }) + STOP, "stop a 0"],
  ["a call", chunk(CALL) + chunk({}, "tool_calls") + DONE, "tool_calls  1"],
  ["stop with a call (R1)", chunk(CALL) + STOP + DONE, "tool_calls  1"],
  [
    "tool_calls without a call",
    chunk({ content: "a" }) + chunk({}, "tool_calls") + DONE,
    "stop a 0",
  ],
  [
    "tool_calls at the cap (R2)",
    chunk(CALL) + chunk({}, "tool_calls", { usage: { prompt_tokens: 1, completion_tokens: 100 } }) +
    DONE,
    "length  0",
  ],
  ["length with a call (R3)", chunk(CALL) + chunk({}, "length") + DONE, "length  0"],
  [
    "stop at the cap (R10)",
    chunk({ content: "a" }) +
    chunk({}, "stop", { usage: { prompt_tokens: 1, completion_tokens: 100 } }) + DONE,
    "length a 0",
  ],
  ["model_length", chunk({ content: "a" }) + chunk({}, "model_length") + DONE, "length a 0"],
  ["a vendor's own reason", chunk({ content: "a" }) + chunk({}, "eos") + DONE, "stop a 0"],
  ["an empty reason", chunk({ content: "a" }) + chunk({}, "") + DONE, "stop a 0"],
  ["finish repeated (R26)", chunk({ content: "a" }) + STOP + STOP + DONE, "stop a 0"],
  [
    "later error overrides",
    chunk({ content: "a" }) + STOP + chunk({}, "error") + DONE,
    "stream_error",
  ],
  [
    "content filter",
    chunk({ content: "a" }) + chunk({}, "content_filter") + DONE,
    "content_filtered",
  ],
  ["[DONE] without finish", chunk({ content: "a" }) + DONE, "incomplete_stream"],
  ["end without finish (R52)", chunk({ content: "a" }), "incomplete_stream"],
  ["only [DONE] (R18)", DONE, "incomplete_stream"],
  ["nothing (LM Studio, R24)", "", "protocol_error"],
  ["comments only", ": ping\n\n: ping\n\n", "protocol_error"],
  ["error event (R24)", 'event: error\ndata: {"error":{"message":"boom"}}\n\n', "stream_error"],
  ["error in data (R18)", data({ error: { message: "boom" } }) + DONE, "stream_error"],
  ["error field of the format (R5)", 'error: {"message":"boom"}\n\n' + DONE, "stream_error"],
  [
    "error beside choices (R31)",
    data({
      error: { message: "x" },
      choices: [{ delta: { content: "" }, finish_reason: "error" }],
    }),
    "stream_error",
  ],
  [
    "raw JSON behind loader frames (R12)",
    data({ choices: [{ delta: { reasoning_content: "loading" } }] }) +
    '{"error":{"message":"load failed"}}',
    "stream_error",
  ],
  [
    "overflow in the stream (R26)",
    data({ error: { message: "context length exceeded", code: 400 } }),
    "context_overflow",
  ],
  [
    "usage with null choices (R17)",
    chunk({ content: "a" }) + STOP +
    data({ choices: null, usage: { prompt_tokens: 1, completion_tokens: 1 } }) + DONE,
    "stop a 0",
  ],
  [
    "Azure's first and last chunk (R33)",
    data({ id: "", choices: [], prompt_filter_results: [] }) + chunk({ content: "a" }) + STOP +
    data({ choices: [{ index: 0, finish_reason: null }] }) + DONE,
    "stop a 0",
  ],
  [
    "content as parts (R41)",
    chunk({
      content: [{ type: "text", text: "a" }, {
        type: "thinking",
        thinking: [{ type: "text", text: "t" }],
      }],
    }) + STOP + DONE,
    "stop a 0",
  ],
  [
    "no space behind data (R45)",
    (chunk({ content: "a" }) + STOP + DONE).replaceAll("data: ", "data:"),
    "stop a 0",
  ],
  ["CRLF (R34)", (chunk({ content: "a" }) + STOP + DONE).replaceAll("\n", "\r\n"), "stop a 0"],
  ["CR only", (chunk({ content: "a" }) + STOP + DONE).replaceAll("\n", "\r"), "stop a 0"],
  ["a byte order mark", "\ufeff" + chunk({ content: "a" }) + STOP + DONE, "stop a 0"],
  [
    "keep-alives (R6, R35, R55)",
    ": ping\n\n" + chunk({ content: "a" }) +
    ":\n: OPENROUTER\n\nevent: x\n\nretry: 3000\n\ndata:\n\n" + STOP + DONE,
    "stop a 0",
  ],
  [
    "data on several lines",
    'data: {"choices":\ndata: [{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' + DONE,
    "stop a 0",
  ],
  [
    "scalar, null and list as data",
    "data: 5\n\ndata: null\n\ndata: []\n\n" + chunk({ content: "a" }) + STOP + DONE,
    "stop a 0",
  ],
  ["not JSON as data", "data: {oops\n\n" + DONE, "protocol_error"],
  [
    "data behind [DONE]",
    chunk({ content: "a" }) + STOP + DONE + chunk({ content: "late" }),
    "stop a 0",
  ],
  ["[DONE] with blanks", chunk({ content: "a" }) + STOP + "data:  [DONE] \n\n", "stop a 0"],
  ["an unfinished last event", chunk({ content: "a" }) + STOP + "data: {", "stop a 0"],
  [
    "a refusal runs nothing",
    chunk({ refusal: "no", ...CALL }) + chunk({}, "tool_calls") + DONE,
    "stop no 0",
  ],
  [
    "a legacy function call",
    chunk({ function_call: { name: "read", arguments: "{}" } }) + chunk({}, "function_call") + DONE,
    "tool_calls  1",
  ],
  ["a call that is no object", chunk({ tool_calls: ["x"] }) + STOP + DONE, "protocol_error"],
];

function describe({ result }: Sent): string {
  if (!result.ok) return result.error.error.reason;
  const { end, text, toolCalls } = result.value;
  return `${end} ${text} ${toolCalls.length}`;
}

for (const [name, body, expected] of STREAMS) {
  Deno.test(`adapter: ${name}`, async () => {
    assert.equal(describe(await send({ bytes: sse(body) })), expected);
  });
}

Deno.test("adapter: the same stream cut at every byte gives the same answer", async () => {
  const body = ": hi\r\n\r\n" + chunk({ content: "ä漢😀" }) + chunk(CALL) +
    chunk({}, "tool_calls") +
    data({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }) + DONE;
  const whole = await send({ bytes: sse(body) });
  assert.ok(whole.result.ok);
  for (const cut of [1, 2, 3, 5, 7, 11, 64]) {
    const pieces = await send({ bytes: sse(body), cut });
    assert.ok(pieces.result.ok);
    const { firstChunkMs: _a, ...expected } = whole.result.value;
    const { firstChunkMs: _b, ...actual } = pieces.result.value;
    assert.deepEqual(actual, expected, `pieces of ${cut}`);
  }
});

Deno.test("adapter: reasoning in every spelling is kept apart from the text", async () => {
  const spellings: readonly string[] = [
    chunk({ reasoning_content: "think" }),
    chunk({ reasoning: "think" }),
    chunk({ thinking: "think" }),
    chunk({ reasoning: "think", reasoning_content: "think" }),
    chunk({ content: "<think>think</think>\n\n" }),
    chunk({ content: "<thi" }) + chunk({ content: "nk>think</th" }) + chunk({ content: "ink>" }),
  ];
  for (const spelling of spellings) {
    const { result } = await send({ bytes: sse(spelling + chunk({ content: "a" }) + STOP + DONE) });
    assert.ok(result.ok);
    assert.deepEqual([result.value.text, result.value.reasoning], ["a", "think"], spelling);
  }
});

Deno.test("adapter: a loading proxy shows as status, not as reasoning (R11)", async () => {
  const frame = data({ choices: [{ delta: { reasoning_content: "loading model" } }] });
  const { result, deltas } = await send({
    bytes: sse(frame + chunk({ content: "a" }) + STOP + DONE),
  });
  assert.ok(result.ok);
  assert.equal(result.value.reasoning, "");
  assert.deepEqual(deltas.filter(({ type }) => type === "status"), [
    { type: "status", text: "loading model" },
  ]);
});

Deno.test("adapter: usage is the last report, in every spelling, never a sum", async () => {
  const usage = (value: object) => data({ choices: [], usage: value });
  const cases: readonly (readonly [string, readonly (number | null)[]])[] = [
    [
      usage({ prompt_tokens: 5, completion_tokens: 1 }) +
      usage({ prompt_tokens: 5, completion_tokens: 2 }),
      [5, 2, null, null],
    ],
    [
      usage({
        prompt_tokens: 5,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      }),
      [5, 2, 4, 1],
    ],
    [usage({ prompt_cache_hit_tokens: 3, prompt_cache_miss_tokens: 2, completion_tokens: 2 }), [
      5,
      2,
      3,
      null,
    ]],
    [usage({ prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: null }), [
      5,
      2,
      null,
      null,
    ]],
    [usage({ prompt_tokens: -5, completion_tokens: 2.5 }), [null, null, null, null]],
    [usage({ prompt_tokens: 5, completion_tokens: 2, cached_tokens: 50 }), [5, 2, null, null]],
    [data({ choices: [{ delta: {}, usage: { prompt_tokens: 5, completion_tokens: 2 } }] }), [
      5,
      2,
      null,
      null,
    ]],
    ["", [null, null, null, null]],
  ];
  for (const [frames, expected] of cases) {
    const { result } = await send({ bytes: sse(chunk({ content: "a" }) + frames + STOP + DONE) });
    assert.ok(result.ok);
    const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = result.value.usage;
    assert.deepEqual(
      [inputTokens, outputTokens, cachedInputTokens, reasoningTokens],
      expected,
      frames,
    );
  }
});

Deno.test("adapter: a JSON answer is read whether or not a stream was asked for", async () => {
  const body = JSON.stringify({
    id: "x",
    object: "chat.completion",
    model: "served",
    choices: [{
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
      },
    }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  for (const stream of [true, false]) {
    const sent = await send({ bytes: http(200, { "content-type": "application/json" }, body) }, {
      stream,
    });
    assert.equal(describe(sent), "tool_calls  1");
  }
});

/** Whole answers that are no answer. */
const WHOLE: readonly (readonly [string, string, ProviderReason])[] = [
  [
    "HTML with 200",
    http(200, { "content-type": "text/html" }, "<html><title>Login</title></html>"),
    "protocol_error",
  ],
  ["text with 200", http(200, { "content-type": "text/plain" }, "OK"), "protocol_error"],
  ["empty with 200", http(200, {}, ""), "protocol_error"],
  [
    "JSON error with 200",
    http(200, { "content-type": "application/json" }, '{"error":{"message":"x"}}'),
    "stream_error",
  ],
  ["broken JSON", http(200, { "content-type": "application/json" }, "{"), "protocol_error"],
  ["429", http(429, { "retry-after": "1" }, "{}"), "rate_limited"],
  ["301", http(301, { location: "http://127.0.0.1:9/x" }, ""), "redirect_blocked"],
  ["308", http(308, { location: "/elsewhere" }, ""), "redirect_blocked"],
];

for (const [name, bytes, reason] of WHOLE) {
  Deno.test(`adapter: ${name} is ${reason}`, async () => {
    const { result, requests } = await send({ bytes });
    assert.ok(!result.ok);
    assert.equal(result.error.error.reason, reason);
    assert.equal(result.error.error.ended, true);
    assert.equal(requests.length, 1);
  });
}

Deno.test("adapter: the target of a redirect gets no byte", async () => {
  await using target = new RawServer([]);
  const { result } = await send({
    bytes: http(307, { location: `${target.origin}/v1/chat/completions` }, ""),
  }, { apiKey: KEY });
  assert.ok(!result.ok);
  assert.match(result.error.error.detail, new RegExp(`^to ${target.origin}$`));
  assert.deepEqual(target.requests, []);
});

Deno.test("adapter: the request is what the contract says, the key goes nowhere else", async () => {
  const { requests } = await send({ bytes: sse(chunk({ content: "a" }) + STOP + DONE) }, {
    apiKey: KEY,
  });
  const [request = ""] = requests;
  assert.match(request, /^POST \/v1\/chat\/completions HTTP\/1\.1\r\n/);
  assert.match(request, /authorization: Bearer sk-test-0123456789\r\n/i);
  assert.match(request, /accept: text\/event-stream\r\n/i);
  assert.match(request, /accept-encoding: identity\r\n/i);
  const body = JSON.parse(request.slice(request.indexOf("\r\n\r\n") + 4));
  assert.deepEqual(Object.keys(body).sort(), [
    "max_tokens",
    "messages",
    "model",
    "stream",
    "stream_options",
    "tools",
  ]);
});

Deno.test("adapter: a server that repeats the key gets it redacted", async () => {
  const { result } = await send({ bytes: http(400, {}, `{"error":{"message":"bad ${KEY}"}}`) }, {
    apiKey: KEY,
  });
  assert.ok(!result.ok);
  assert.doesNotMatch(JSON.stringify(result), new RegExp(KEY));
  assert.match(result.error.error.detail, /\[redacted\]/);
});

Deno.test("adapter: a refused connection proves that nothing runs", async () => {
  const server = new RawServer([]);
  const { origin } = server;
  await server[Symbol.asyncDispose]();
  const adapter = new ChatCompletionsAdapter({
    clock: systemClock,
    timers: systemTimers,
    redact: (text) => text,
    userAgent: "t",
  });
  const result = await adapter.send({
    modelKey: "m",
    baseUrl: origin,
    model: "m",
    apiKey: null,
    profile: {
      maxTokensField: "max_tokens",
      stream: true,
      streamUsage: false,
      replayReasoning: false,
      temperature: null,
    },
    timeouts: { connectMs: 1000, firstOutputMs: 5000, idleMs: 5000, requestMs: 5000 },
  }, {
    messages: [{ role: "user", text: "x" }],
    tools: [],
    maxOutputTokens: 1,
    usedCallIds: new Set(),
  }, {
    signal: new AbortController().signal,
    onDelta: () => {},
  });
  assert.ok(!result.ok);
  assert.deepEqual([result.error.error.reason, result.error.error.ended], [
    "connection_failed",
    true,
  ]);
});

Deno.test("adapter: each time limit ends the request, without proof of its end", async () => {
  const limits: readonly (readonly [string, number, ProviderReason])[] = [
    ["", 90_000, "first_output_timeout"],
    [": ping\n\n", 90_000, "first_output_timeout"],
    [chunk({ content: "a" }), 30_000, "idle_timeout"],
  ];
  for (const [body, afterMs, reason] of limits) {
    const clock = new ManualClock();
    const came = Promise.withResolvers<void>();
    const sent = send({ bytes: sse(body), end: "hang" }, { clock, onDelta: () => came.resolve() });
    // Where there is output the limit counts from it; otherwise from the beginning.
    if (reason === "idle_timeout") await came.promise;
    else await new Promise((resolve) => setTimeout(resolve, 100));
    clock.advance(afterMs - 1);
    clock.advance(1);
    const { result } = await sent;
    assert.ok(!result.ok);
    assert.deepEqual([result.error.error.reason, result.error.error.ended], [reason, false], body);
    assert.equal(clock.pending, 0, "a timer was left");
  }
});

Deno.test("adapter: the user's abort closes the connection and keeps the text", async () => {
  const abort = new AbortController();
  const { result } = await send({
    bytes: sse(chunk({ content: "half" }) + chunk(CALL)),
    end: "hang",
  }, {
    signal: abort.signal,
    onDelta: () => abort.abort(),
  });
  assert.ok(!result.ok);
  assert.equal(result.error.error.ended, false);
  assert.equal(result.error.partial.text, "half");
  assert.deepEqual(result.error.partial.toolCalls, []);
});

Deno.test("adapter: an endless line ends in an error, with bounded memory", async () => {
  const before = Deno.memoryUsage().rss;
  const { result } = await send({ bytes: sse(`data: ${"x".repeat(20 << 20)}`), cut: 1 << 20 });
  assert.ok(!result.ok);
  assert.equal(result.error.error.reason, "protocol_error");
  assert.ok(Deno.memoryUsage().rss - before < 300_000_000);
});
