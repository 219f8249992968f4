import { newId } from "./ids.ts";

/** The owner that a control socket of a test speaks for. */
export const OWNER = { instanceId: newId("instance"), workspaceId: newId("workspace") };

/** The hello that this owner takes. */
export const HELLO = { type: "hello", protocol: 1, ...OWNER } as const;

/** Longer than any answer takes, in milliseconds: a test that waits for one that never comes fails. */
const READ_TIMEOUT_MS = 10_000;

/** One end of a control connection that may say anything: lines in, lines out. */
export class ControlLine implements Disposable {
  readonly #connection: Deno.UnixConn;
  readonly #decoder = new TextDecoder();
  #text = "";

  private constructor(connection: Deno.UnixConn) {
    this.#connection = connection;
  }

  static async open(path: string): Promise<ControlLine> {
    return new ControlLine(await Deno.connect({ transport: "unix", path }));
  }

  /** A connection that has said hello and was answered. */
  static async greeted(path: string): Promise<ControlLine> {
    const line = await ControlLine.open(path);
    await line.send(HELLO);
    const answer = await line.read();
    if (answer?.type !== "hello") throw new Error(`No hello came: ${JSON.stringify(answer)}`);
    return line;
  }

  /** Sends a value as one line. */
  async send(value: unknown): Promise<void> {
    await this.write(`${JSON.stringify(value)}\n`);
  }

  /** Sends text or bytes as they are. */
  async write(content: string | Uint8Array): Promise<void> {
    let rest = typeof content === "string" ? new TextEncoder().encode(content) : content;
    while (rest.length > 0) rest = rest.subarray(await this.#connection.write(rest));
  }

  /** The next frame; null when the other end has closed the connection. */
  async read(): Promise<Record<string, unknown> | null> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#connection.close();
    }, READ_TIMEOUT_MS);
    try {
      return await this.#read();
    } catch (failure) {
      throw late ? new Error("No frame came in time") : failure;
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(): Promise<Record<string, unknown> | null> {
    const buffer = new Uint8Array(65_536);
    while (!this.#text.includes("\n")) {
      const count = await this.#connection.read(buffer).catch((failure: unknown) => {
        if (failure instanceof Deno.errors.ConnectionReset) return null;
        throw failure;
      });
      if (count === null) return null;
      this.#text += this.#decoder.decode(buffer.subarray(0, count), { stream: true });
    }
    const end = this.#text.indexOf("\n");
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return JSON.parse(line);
  }

  [Symbol.dispose](): void {
    try {
      this.#connection.close();
    } catch (failure) {
      if (!(failure instanceof Deno.errors.BadResource)) throw failure;
    }
  }
}
