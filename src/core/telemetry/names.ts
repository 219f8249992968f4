/**
 * Every name Fluzo emits, in one place. GenAI names follow the conventions at revision
 * 8ffdf568e1b4391a99adb081db16e8102e36918e; what is Fluzo's own begins with `fluzo.`.
 */

export const GEN_AI = {
  operationName: "gen_ai.operation.name",
  providerName: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  requestStream: "gen_ai.request.stream",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  conversationId: "gen_ai.conversation.id",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  responseFinishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadInputTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteInputTokens: "gen_ai.usage.cache_write.input_tokens",
  reasoningOutputTokens: "gen_ai.usage.reasoning.output_tokens",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  agentName: "gen_ai.agent.name",
  tokenModality: "gen_ai.token.modality",
} as const;

export const ERROR_TYPE = "error.type";
export const SERVER_ADDRESS = "server.address";
export const SERVER_PORT = "server.port";
export const HTTP_METHOD = "http.request.method";
export const HTTP_STATUS = "http.response.status_code";
export const HTTP_RESEND_COUNT = "http.request.resend_count";

export const FLUZO = {
  taskId: "fluzo.task.id",
  attemptNumber: "fluzo.attempt.number",
  resumedTrace: "fluzo.attempt.resumed_trace",
  operationId: "fluzo.operation.id",
  inferencePurpose: "fluzo.inference.purpose",
  policyDecision: "fluzo.policy.decision",
  admissionOutcome: "fluzo.admission.outcome",
  verificationRound: "fluzo.verification.round",
  verificationPassed: "fluzo.verification.passed",
  contextBytes: "fluzo.context.bytes",
} as const;

/** Span names that are not made from a model or tool name. */
export const SPANS = {
  agent: "invoke_agent fluzo",
  context: "fluzo.context",
  admission: "fluzo.admission",
  policy: "fluzo.policy",
  verification: "fluzo.verification",
  httpAttempt: "POST",
} as const;

export const METRICS = {
  operationDuration: "gen_ai.client.operation.duration",
  timeToFirstChunk: "gen_ai.client.operation.time_to_first_chunk",
  inputTokens: "gen_ai.client.inference.usage.input_tokens",
  outputTokens: "gen_ai.client.inference.usage.output_tokens",
  cacheReadTokens: "gen_ai.client.inference.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.client.inference.usage.cache_write.input_tokens",
  reasoningTokens: "gen_ai.client.inference.usage.reasoning.output_tokens",
  operationInputTokens: "gen_ai.client.inference.operation.input_tokens",
  operationOutputTokens: "gen_ai.client.inference.operation.output_tokens",
  agentDuration: "gen_ai.invoke_agent.duration",
  agentInferenceCalls: "gen_ai.invoke_agent.inference_calls",
  agentToolCalls: "gen_ai.invoke_agent.tool_calls",
  toolDuration: "gen_ai.execute_tool.duration",
} as const;

/** Log events. */
export const LOGS = {
  exception: "gen_ai.client.operation.exception",
  taskEnded: "fluzo.task.ended",
  verificationEnded: "fluzo.verification.ended",
} as const;
