import type { Message } from "../../../core/conversation/message.ts";
import type { ChatRequest, ModelEndpoint } from "../provider.ts";

/** What stands in the place of a call that must not be repeated to the server as it came. */
const EMPTY_ARGUMENTS = "{}";

/**
 * The body of a request. It keeps the rules that servers enforce on history: arguments are the text
 * of a JSON object, ids are never null, `tools` is left out when there is none, and exactly one
 * field names the output limit.
 */
export function requestBody(endpoint: ModelEndpoint, request: ChatRequest): string {
  const { profile } = endpoint;
  return JSON.stringify({
    model: endpoint.model,
    messages: request.messages.map((message) => wireMessage(message, profile.replayReasoning)),
    ...(request.tools.length === 0 ? {} : {
      tools: request.tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    }),
    [profile.maxTokensField]: request.maxOutputTokens,
    ...(profile.temperature === null ? {} : { temperature: profile.temperature }),
    stream: profile.stream,
    ...(profile.stream && profile.streamUsage ? { stream_options: { include_usage: true } } : {}),
  });
}

function wireMessage(
  message: Message,
  replayReasoning: boolean,
): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.text };
    case "assistant":
      return {
        role: "assistant",
        content: message.text === "" && message.toolCalls.length > 0 ? null : message.text,
        ...(replayReasoning && message.reasoning !== ""
          ? { reasoning_content: message.reasoning }
          : {}),
        ...(message.toolCalls.length === 0 ? {} : {
          tool_calls: message.toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: {
              name: call.name,
              arguments: call.invalid === null ? call.argumentsText : EMPTY_ARGUMENTS,
            },
          })),
        }),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.text };
  }
}
