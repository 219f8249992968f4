import { Hono } from "hono";
import { frameText } from "./frames.ts";
import { checkRequest } from "./request_rules.ts";
import type { Scenario, Step } from "./scenario.ts";

/** One request as it came. */
export interface SeenRequest {
  readonly headers: Headers;
  readonly body: unknown;
}

/** A running scripted server on an ephemeral port of the loopback interface. */
export interface Simulator extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  /** Resolves once the server hangs on purpose, all before that taken over by the client. */
  readonly hanging: Promise<void>;
  /**
   * Checks that everything came as scripted.
   *
   * @throws {Error} With each deviation: what was expected, what came.
   */
  verify(): void;
}

/**
 * Starts a server that answers the steps of a scenario in order. It supplies protocol answers only:
 * it edits no file and runs no tool. A request that is malformed, unexpected or out of order is
 * answered with 500 and noted; a step that was never asked for is noted too.
 */
export function startSimulator(
  steps: Scenario["steps"],
  { apiKey = null, onRequest = () => {} }: {
    readonly apiKey?: string | null;
    /** Called when a request arrives, before its body is read. */
    readonly onRequest?: () => void;
  } = {},
): Simulator {
  const requests: SeenRequest[] = [];
  const problems: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const closing = Promise.withResolvers<void>();
  const app = new Hono();
  app.all("*", async (context) => {
    onRequest();
    const index = requests.length;
    const body = await readJson(context.req.raw);
    requests.push({ headers: context.req.raw.headers, body });
    const found = [...checkRequest({
      method: context.req.method,
      path: context.req.path,
      headers: context.req.raw.headers,
      body,
    }, { apiKey })];
    const step = steps[index];
    if (step === undefined) found.push(`only ${steps.length} requests are scripted`);
    else found.push(...checkExpectation(step, body));
    if (found.length > 0 || step === undefined) {
      problems.push(...found.map((problem) => `request ${index + 1}: ${problem}`));
      return context.json({ error: { message: `simulator: ${found.join("; ")}` } }, 500);
    }
    return await answer(step, { body, closing: closing.promise, onHang: hanging.resolve });
  });
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  }, app.fetch);
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    requests,
    hanging: hanging.promise,
    verify: () => {
      const missing = steps.length - requests.length;
      const all = missing > 0
        ? [...problems, `${missing} of ${steps.length} scripted requests never came`]
        : problems;
      if (all.length > 0) throw new Error(`The scenario was not kept:\n  ${all.join("\n  ")}`);
    },
    [Symbol.asyncDispose]: async () => {
      // Answers that hang on purpose are ended with the server.
      closing.resolve();
      await server.shutdown().catch(() => {});
    },
  };
}

function checkExpectation({ expect }: Step, body: unknown): readonly string[] {
  const messages = messagesOf(body);
  const last = messages.at(-1) ?? { role: "nobody", content: "" };
  const problems: string[] = [];
  if (expect.last_role !== undefined && last.role !== expect.last_role) {
    problems.push(`the last message is of "${last.role}", expected "${expect.last_role}"`);
  }
  for (const pattern of expect.last_message) {
    if (new RegExp(pattern, "s").test(last.content)) continue;
    problems.push(
      `the last message does not match /${pattern}/; it is: ${last.content.slice(0, 500)}`,
    );
  }
  const earlier = messages.slice(0, -1).map(({ content }) => content);
  for (const pattern of expect.conversation) {
    if (earlier.some((content) => new RegExp(pattern, "s").test(content))) continue;
    problems.push(`no message before the last matches /${pattern}/`);
  }
  return problems;
}

interface SeenMessage {
  readonly role: string;
  readonly content: string;
}

function messagesOf(body: unknown): readonly SeenMessage[] {
  const { messages = [] } = body as { readonly messages?: readonly Record<string, unknown>[] };
  return messages.map(({ role, content }) => ({ role: String(role), content: String(content) }));
}

function answer(
  { reply }: Step,
  { body, closing, onHang }: {
    readonly body: unknown;
    readonly closing: Promise<void>;
    readonly onHang: () => void;
  },
): Response | Promise<Response> {
  const { status, headers } = reply;
  if (reply.hang) {
    onHang();
    return closing.then(() => new Response(null, { status: 500 }));
  }
  if (reply.frames === undefined) {
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? "");
    const type = typeof reply.body === "string" ? "text/plain" : "application/json";
    return new Response(text, { status, headers: { "content-type": type, ...headers } });
  }
  const model = String((body as Readonly<Record<string, unknown>>)["model"]);
  const { frames } = reply;
  const encoder = new TextEncoder();
  let next = 0;
  // One frame a pull: a cut comes only when everything before it has been taken over.
  const stream = new ReadableStream<Uint8Array>({
    pull(controller): Promise<void> {
      const frame = frames[next++];
      const text = frame === undefined ? null : frameText(frame, model);
      if (text !== null) controller.enqueue(encoder.encode(text));
      else if (frame === undefined) controller.close();
      else if (frame.type === "cut") controller.error(new Error("The script cuts the connection"));
      else {
        // A frame that hangs: nothing comes until the client goes away.
        onHang();
        return new Promise(() => {});
      }
      return Promise.resolve();
    },
  }, { highWaterMark: 0 });
  return new Response(stream, {
    status,
    headers: { "content-type": "text/event-stream", ...headers },
  });
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return null;
  }
}
