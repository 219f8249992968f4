/** Bytes written in one call: a pipe's usual buffer. */
const CHUNK_BYTES = 65_536;

/**
 * The only way to standard output or standard error. Writes go out in order and are awaited, so a
 * slow reader slows the writer and nothing piles up; a reader that went away ends the output
 * quietly, without an error and without ending the work.
 */
export class OutputWriter {
  readonly #stream: { write(bytes: Uint8Array): Promise<number> };
  readonly #encoder = new TextEncoder();
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(stream: { write(bytes: Uint8Array): Promise<number> }) {
    this.#stream = stream;
  }

  /** Whether the reader went away. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Writes text; resolves when it is handed to the system. */
  write(text: string): Promise<void> {
    if (text === "") return this.#last;
    this.#last = this.#last.then(() => this.#writeAll(this.#encoder.encode(text)));
    return this.#last;
  }

  /** Resolves when everything written so far is out. */
  drain(): Promise<void> {
    return this.#last;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    let offset = 0;
    while (offset < bytes.byteLength && !this.#closed) {
      try {
        offset += await this.#stream.write(bytes.subarray(offset, offset + CHUNK_BYTES));
      } catch (failure) {
        if (!(failure instanceof Deno.errors.BrokenPipe)) throw failure;
        this.#closed = true;
      }
    }
  }
}
