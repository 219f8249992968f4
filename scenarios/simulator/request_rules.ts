/**
 * What every request must keep to, whatever the scenario: the rules that real servers enforce on
 * Chat Completions. Written from the wire contract alone; nothing of the program is imported.
 */

const KNOWN_FIELDS = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "stream",
  "stream_options",
  "parallel_tool_calls",
]);

type Json = Readonly<Record<string, unknown>>;

/** Everything that is wrong with a request; empty when it is right. */
export function checkRequest(
  { method, path, headers, body }: {
    readonly method: string;
    readonly path: string;
    readonly headers: Headers;
    readonly body: unknown;
  },
  { apiKey }: { readonly apiKey: string | null },
): readonly string[] {
  const problems: string[] = [];
  if (method !== "POST") problems.push(`method ${method}`);
  if (path !== "/v1/chat/completions") problems.push(`path ${path}`);
  const accept = headers.get("accept") ?? "";
  if (accept !== "text/event-stream" && accept !== "application/json") {
    problems.push(`accept "${accept}"`);
  }
  const authorization = headers.get("authorization");
  const expected = apiKey === null ? null : `Bearer ${apiKey}`;
  if (authorization !== expected) problems.push("authorization is not what was configured");
  if (!isObject(body)) return [...problems, "the body is not an object"];
  for (const field of Object.keys(body)) {
    if (!KNOWN_FIELDS.has(field)) problems.push(`unknown field "${field}"`);
  }
  const limits = ["max_tokens", "max_completion_tokens"].filter((field) => field in body);
  if (limits.length !== 1) problems.push(`${limits.length} output limits`);
  if (typeof body["model"] !== "string") problems.push("no model");
  const { tools } = body;
  if (tools !== undefined && (!Array.isArray(tools) || tools.length === 0)) {
    problems.push("tools is not a list with entries");
  }
  problems.push(...checkMessages(body["messages"]));
  return problems;
}

function checkMessages(messages: unknown): readonly string[] {
  if (!Array.isArray(messages) || messages.length === 0) return ["no messages"];
  const problems: string[] = [];
  const ids = new Set<string>();
  let open = new Set<string>();
  messages.forEach((message: unknown, index) => {
    const at = `message ${index}`;
    if (!isObject(message)) {
      problems.push(`${at} is not an object`);
      return;
    }
    const { role } = message;
    if (role === "tool") {
      const id = message["tool_call_id"];
      if (typeof id !== "string" || !open.delete(id)) {
        problems.push(`${at} answers no open call`);
      }
      if (typeof message["content"] !== "string") problems.push(`${at} has no content`);
      return;
    }
    if (open.size > 0) problems.push(`${at} comes before the results of ${[...open].join(", ")}`);
    open = new Set();
    if (role !== "assistant") {
      if (typeof message["content"] !== "string") problems.push(`${at} has no content`);
      return;
    }
    const calls = message["tool_calls"];
    if (calls === undefined) {
      if (typeof message["content"] !== "string") problems.push(`${at} says nothing`);
      return;
    }
    if (!Array.isArray(calls) || calls.length === 0) problems.push(`${at} has empty tool_calls`);
    for (const call of Array.isArray(calls) ? calls : []) {
      problems.push(...checkCall(call, ids).map((problem) => `${at}: ${problem}`));
      if (isObject(call) && typeof call["id"] === "string") open.add(call["id"]);
    }
  });
  const last: unknown = messages.at(-1);
  if (open.size > 0) problems.push(`no result for ${[...open].join(", ")}`);
  if (isObject(last) && last["role"] === "assistant") {
    problems.push("the last message is assistant");
  }
  return problems;
}

function checkCall(call: unknown, ids: Set<string>): readonly string[] {
  if (!isObject(call)) return ["a call that is no object"];
  const { id, type } = call;
  const problems: string[] = [];
  if (typeof id !== "string" || id === "") problems.push("a call without id");
  else if (ids.has(id)) problems.push(`the id ${id} is used twice`);
  else ids.add(id);
  if (type !== "function") problems.push("a call that is no function");
  const body = call["function"];
  const args = isObject(body) ? body["arguments"] : undefined;
  if (!isObject(body) || typeof body["name"] !== "string" || body["name"] === "") {
    problems.push("a call without name");
  }
  if (typeof args !== "string") return [...problems, "arguments that are no text"];
  try {
    if (!isObject(JSON.parse(args))) problems.push("arguments that are no object");
  } catch {
    problems.push("arguments that are not JSON");
  }
  return problems;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
