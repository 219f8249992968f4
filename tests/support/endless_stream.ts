/** A server whose answers never end: words, as fast as the client takes them. */
export interface EndlessStream extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: number;
  /** Resolves when the client has taken a good part of a stream. */
  readonly flowing: Promise<void>;
}

/** Chunks of which the first ones have certainly been read once the last is asked for. */
const FLOWING_CHUNKS = 500;

/** Words of one chunk. */
const WORDS = 4;

export function endlessStream(): EndlessStream {
  const flowing = Promise.withResolvers<void>();
  let requests = 0;
  const delta = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }],
  };
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(delta)}\n\n`.repeat(WORDS));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    requests++;
    let chunks = 0;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (++chunks === FLOWING_CHUNKS) flowing.resolve();
        // A pause lets the server see that the client has gone.
        if (chunks % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        controller.enqueue(bytes);
      },
    }, { highWaterMark: 0 });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    get requests() {
      return requests;
    },
    flowing: flowing.promise,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown().catch(() => {});
    },
  };
}
