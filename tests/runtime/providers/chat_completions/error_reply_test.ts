import assert from "node:assert/strict";
import type { ProviderReason } from "../../../../src/core/errors.ts";
import {
  isErrorValue,
  readErrorReply,
} from "../../../../src/runtime/providers/chat_completions/error_reply.ts";

/** Each row of the error table of the wire contract: server, status, body, what it means. */
const CASES: readonly (readonly [string, number, unknown, ProviderReason, RegExp])[] = [
  [
    "llama.cpp overflow",
    400,
    {
      error: {
        code: 400,
        message: "too long",
        type: "exceed_context_size_error",
        n_prompt_tokens: 9,
        n_ctx: 8,
      },
    },
    "context_overflow",
    /too long/,
  ],
  [
    "OpenAI overflow",
    400,
    {
      error: {
        message: "maximum context",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
    "context_overflow",
    /maximum/,
  ],
  [
    "vLLM overflow, flat",
    400,
    {
      object: "error",
      message: "This model's maximum context length is 8",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    "context_overflow",
    /maximum/,
  ],
  [
    "LM Studio overflow",
    400,
    { error: "Trying to keep the first 9 tokens (n_keep > n_ctx)" },
    "context_overflow",
    /n_ctx/,
  ],
  [
    "LiteLLM overflow",
    400,
    { error: { message: "context window exceeded", code: "400", type: "None" } },
    "context_overflow",
    /window/,
  ],
  [
    "OpenAI quota",
    429,
    { error: { message: "no money", code: "insufficient_quota" } },
    "quota_exhausted",
    /money/,
  ],
  [
    "OpenAI rate",
    429,
    { error: { message: "slow", code: "rate_limit_exceeded" } },
    "rate_limited",
    /slow/,
  ],
  ["Azure rate", 429, { error: { code: "429", message: "wait a day" } }, "rate_limited", /day/],
  ["Mistral rate, bare", 429, { message: "Requests rate limit exceeded" }, "rate_limited", /rate/],
  [
    "Mistral rate, object",
    429,
    {
      object: "error",
      message: "cap",
      type: "rate_limited",
      param: null,
      code: "1300",
      raw_status_code: 429,
    },
    "rate_limited",
    /cap/,
  ],
  [
    "OpenRouter credit",
    402,
    { error: { code: 402, message: "Insufficient credits" } },
    "quota_exhausted",
    /credits/,
  ],
  [
    "LiteLLM throttling",
    429,
    { error: { message: "x", type: "throttling_error", param: "None", code: "429" } },
    "rate_limited",
    /x/,
  ],
  [
    "LiteLLM budget",
    400,
    { error: { message: "over", type: "budget_exceeded" } },
    "quota_exhausted",
    /over/,
  ],
  [
    "llama-swap concurrency",
    429,
    {
      src: "llama-swap",
      error: {
        message: "Too many requests",
        type: "rate_limit_error",
        param: null,
        code: "concurrency_limit",
      },
    },
    "capacity_rejected",
    /Too many/,
  ],
  ["llama-swap, old", 429, { error: "Too many requests" }, "rate_limited", /Too many/],
  [
    "Ollama queue full",
    503,
    { error: { message: "server busy, queue full", type: "api_error", param: null, code: null } },
    "capacity_rejected",
    /queue/,
  ],
  [
    "llama.cpp loading",
    503,
    { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
    "loading",
    /Loading/,
  ],
  ["HF loading", 503, { error: "Model is loading", estimated_time: 20 }, "loading", /loading/],
  ["llama-swap not ready", 503, "[coder] process is not ready", "loading", /not ready/],
  [
    "llama.cpp auth",
    401,
    { error: { code: 401, message: "Invalid API Key", type: "authentication_error" } },
    "authentication",
    /Key/,
  ],
  ["Mistral auth", 401, { detail: "Unauthorized" }, "authentication", /Unauthorized/],
  [
    "OpenAI region",
    403,
    { error: { message: "Country not supported" } },
    "authentication",
    /Country/,
  ],
  [
    "Mistral field",
    422,
    {
      object: "error",
      message: {
        detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs" }],
      },
      type: "invalid_request_error",
    },
    "invalid_request",
    /stream_options/,
  ],
  [
    "pydantic detail",
    422,
    { detail: [{ loc: ["body", "model"], msg: "field required", type: "missing" }] },
    "invalid_request",
    /body\.model: field required/,
  ],
  [
    "llama.cpp unsupported",
    501,
    { error: { code: 501, message: "no", type: "not_supported_error" } },
    "invalid_request",
    /no/,
  ],
  [
    "llama.cpp tools",
    500,
    { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } },
    "tools_unsupported",
    /jinja/,
  ],
  [
    "Ollama tools",
    400,
    { error: { message: "registry/x does not support tools", type: "api_error" } },
    "tools_unsupported",
    /tools/,
  ],
  [
    "llama.cpp arguments",
    500,
    {
      error: {
        code: 500,
        message: "Failed to parse tool call arguments as JSON",
        type: "server_error",
      },
    },
    "invalid_request",
    /parse/,
  ],
  ["unknown model", 404, { error: { message: "model not found" } }, "not_found", /model/],
  ["plain 404", 404, "404 page not found\n", "not_found", /page/],
  [
    "Gemini list",
    400,
    [{ error: { code: 400, message: "bad", status: "INVALID_ARGUMENT" } }],
    "invalid_request",
    /bad/,
  ],
  [
    "Runware errors",
    400,
    { errors: [{ code: "x", message: "first" }, { message: "second" }] },
    "invalid_request",
    /first; second/,
  ],
  [
    "HTML 502",
    502,
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>",
    "unavailable",
    /HTML page: 502 Bad Gateway/,
  ],
  ["empty 502", 502, "", "unavailable", /^$/],
  ["timeout", 504, { message: "upstream" }, "unavailable", /upstream/],
  ["in a stream", 200, { error: { message: "boom" } }, "stream_error", /boom/],
  [
    "overflow in a stream",
    200,
    { error: { message: "context length exceeded", code: 400 } },
    "context_overflow",
    /length/,
  ],
];

for (const [name, status, body, reason, detail] of CASES) {
  Deno.test(`readErrorReply(): ${name}`, () => {
    const reply = readErrorReply(status, body);
    assert.equal(reply.reason, reason);
    assert.match(reply.detail, detail);
  });
}

Deno.test("readErrorReply() keeps at most 2 KiB of a server's words", () => {
  assert.ok(readErrorReply(500, "ä".repeat(10_000)).detail.length <= 1024);
});

Deno.test("isErrorValue() tells errors from answers", () => {
  for (
    const value of [{ error: "x" }, { error: { message: "x" } }, [{ error: {} }], {
      object: "error",
    }]
  ) {
    assert.equal(isErrorValue(value), true, JSON.stringify(value));
  }
  for (const value of [{}, { error: null, choices: [] }, [], "error", 5, null]) {
    assert.equal(isErrorValue(value), false, JSON.stringify(value));
  }
});
