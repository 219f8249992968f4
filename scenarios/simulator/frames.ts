import type { Frame } from "./scenario.ts";

/** The bytes of one frame as a Chat Completions server streams it; null for `cut` and `hang`. */
export function frameText(frame: Frame, model: string): string | null {
  switch (frame.type) {
    case "text":
      return chunk(model, { content: frame.text });
    case "reasoning":
      return chunk(model, { reasoning_content: frame.text });
    case "call":
      return callChunks(frame, model);
    case "finish":
      return event({
        ...base(model),
        choices: [{ index: 0, delta: {}, finish_reason: frame.reason }],
      });
    case "usage": {
      const { prompt_tokens, completion_tokens } = frame;
      const total_tokens = prompt_tokens + completion_tokens;
      const usage = { prompt_tokens, completion_tokens, total_tokens };
      return event({ ...base(model), choices: [], usage });
    }
    case "done":
      return "data: [DONE]\n\n";
    case "raw":
      return frame.text;
    case "cut":
    case "hang":
      return null;
  }
}

function callChunks(frame: Extract<Frame, { type: "call" }>, model: string): string {
  const { index, id, name } = frame;
  const text = typeof frame.arguments === "string"
    ? frame.arguments
    : JSON.stringify(frame.arguments);
  const size = Math.max(1, Math.ceil(text.length / frame.fragments));
  const head = { index, id, type: "function", function: { name, arguments: text.slice(0, size) } };
  let chunks = chunk(model, { tool_calls: [head] });
  for (let at = size; at < text.length; at += size) {
    const fragment = { index, function: { arguments: text.slice(at, at + size) } };
    chunks += chunk(model, { tool_calls: [fragment] });
  }
  return chunks;
}

function chunk(model: string, delta: unknown): string {
  return event({ ...base(model), choices: [{ index: 0, delta, finish_reason: null }] });
}

function base(model: string): Readonly<Record<string, unknown>> {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
}

function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
