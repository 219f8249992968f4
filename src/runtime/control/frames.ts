/** One line of JSON is one frame. A line break cannot occur inside: JSON escapes it. */
const LINE_FEED = 0x0a;

/** A frame with its closing line break. */
export function encodeFrame(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}

/** What the next frame is. */
export type NextFrame =
  | { readonly type: "frame"; readonly text: string }
  /** Not whole yet. */
  | { readonly type: "partial" }
  /** Longer than the cap: nothing after it can be trusted. */
  | { readonly type: "too_large" }
  /** Not UTF-8. */
  | { readonly type: "malformed" };

/**
 * Cuts a byte stream into frames, wherever it was split on the way. It never holds more than the cap
 * and one read: the caller takes frames until none is whole before it pushes more.
 */
export class FrameSplitter {
  readonly #maxBytes: number;
  #buffer = new Uint8Array(0);
  /** Bytes at the front that hold no line break. */
  #searched = 0;

  /** @param maxBytes Longest frame, its line break not counted. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the beginning of a frame waits for its rest. */
  get partial(): boolean {
    return this.#buffer.length > 0;
  }

  push(bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#buffer.length + bytes.length);
    joined.set(this.#buffer);
    joined.set(bytes, this.#buffer.length);
    this.#buffer = joined;
  }

  /** Takes the next frame. */
  next(): NextFrame {
    const end = this.#buffer.indexOf(LINE_FEED, this.#searched);
    const length = end === -1 ? this.#buffer.length : end;
    if (length > this.#maxBytes) return { type: "too_large" };
    if (end === -1) {
      this.#searched = length;
      return { type: "partial" };
    }
    const line = this.#buffer.subarray(0, end);
    this.#buffer = this.#buffer.slice(end + 1);
    this.#searched = 0;
    try {
      return { type: "frame", text: new TextDecoder("utf-8", { fatal: true }).decode(line) };
    } catch (failure) {
      if (failure instanceof TypeError) return { type: "malformed" };
      throw failure;
    }
  }
}
