/** What one connection is answered with: bytes, then how it ends. */
export interface RawReply {
  readonly bytes: string | Uint8Array;
  /** Bytes of one write; all at once if left out. */
  readonly cut?: number;
  /** `close` ends properly; `reset` breaks it; `hang` waits until the client goes away. */
  readonly end?: "close" | "reset" | "hang";
}

/** A TCP server on an ephemeral loopback port that answers each request with exactly these bytes. */
export class RawServer implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #replies: readonly RawReply[];
  readonly #done: Promise<void>;
  readonly #open = new Set<Deno.TcpConn>();

  constructor(replies: readonly RawReply[]) {
    this.#replies = replies;
    this.#done = this.#serve();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  async #serve(): Promise<void> {
    const handled: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) {
        this.#open.add(connection);
        handled.push(
          this.#answer(connection).catch(() => {}).finally(() => {
            this.#open.delete(connection);
          }),
        );
      }
    } catch (failure) {
      if (!(failure instanceof Deno.errors.BadResource)) throw failure;
    }
    await Promise.all(handled);
  }

  async #answer(connection: Deno.TcpConn): Promise<void> {
    const request = await readRequest(connection);
    if (request === "") {
      connection.close();
      return;
    }
    const reply = this.#replies[this.requests.length];
    this.requests.push(request);
    if (reply === undefined) {
      connection.close();
      return;
    }
    const bytes = typeof reply.bytes === "string"
      ? new TextEncoder().encode(reply.bytes)
      : reply.bytes;
    connection.setNoDelay(true);
    for (let at = 0; at < bytes.length;) {
      const end = Math.min(bytes.length, at + (reply.cut ?? bytes.length));
      at += await connection.write(bytes.subarray(at, end));
      // Lets the client read this piece by itself.
      if (reply.cut !== undefined) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (reply.end === "hang") {
      const rest = new Uint8Array(1024);
      while (await connection.read(rest) !== null);
    }
    connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) {
      try {
        connection.close();
      } catch (failure) {
        if (!(failure instanceof Deno.errors.BadResource)) throw failure;
      }
    }
    await this.#done;
  }
}

async function readRequest(connection: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  while (true) {
    const read = await connection.read(buffer);
    if (read === null) return text;
    text += decoder.decode(buffer.subarray(0, read), { stream: true });
    const head = text.indexOf("\r\n\r\n");
    if (head === -1) continue;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (new TextEncoder().encode(text.slice(head + 4)).length >= length) return text;
  }
}

/** A streamed HTTP answer that ends with the connection. */
export function sse(body: string, status = 200): string {
  return `HTTP/1.1 ${status} X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${body}`;
}

/** A whole HTTP answer. */
export function http(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const length = new TextEncoder().encode(body).length;
  const lines = Object.entries({
    "content-length": String(length),
    connection: "close",
    ...headers,
  });
  return `HTTP/1.1 ${status} X\r\n${
    lines.map(([k, v]) => `${k}: ${v}`).join("\r\n")
  }\r\n\r\n${body}`;
}
