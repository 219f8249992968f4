/**
 * Keeps the head and the tail of a stream of bytes within a bound, however long it is. What is
 * between them is counted and let go, so draining a child costs no memory.
 */
export class Capture {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Uint8Array[] = [];
  #headLength = 0;
  /** The newest bytes after the head, oldest first. */
  readonly #tail: Uint8Array[] = [];
  #tailLength = 0;
  #total = 0;

  /** @param maxBytes Bytes kept in all; half of them from each end. */
  constructor(maxBytes: number) {
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#tailBytes = maxBytes - this.#headBytes;
  }

  /** Takes the next bytes; they are copied, so the caller may reuse its buffer. */
  push(bytes: Uint8Array): void {
    this.#total += bytes.byteLength;
    const room = this.#headBytes - this.#headLength;
    const head = bytes.subarray(0, room);
    if (head.byteLength > 0) {
      this.#head.push(head.slice());
      this.#headLength += head.byteLength;
    }
    const rest = bytes.subarray(head.byteLength);
    if (rest.byteLength === 0 || this.#tailBytes === 0) return;
    this.#tail.push(rest.slice(-this.#tailBytes));
    this.#tailLength += Math.min(rest.byteLength, this.#tailBytes);
    while (this.#tail.length > 1) {
      const oldest = this.#tail[0];
      if (oldest === undefined || this.#tailLength - oldest.byteLength < this.#tailBytes) break;
      this.#tail.shift();
      this.#tailLength -= oldest.byteLength;
    }
  }

  /** Bytes that were not kept. */
  get droppedBytes(): number {
    return this.#total - this.#headLength - Math.min(this.#tailLength, this.#tailBytes);
  }

  /** What was kept, decoded with replacement, with a mark where bytes are missing. */
  text(): string {
    const tail = concat(this.#tail).slice(-this.#tailBytes || undefined);
    const dropped = this.droppedBytes;
    if (dropped === 0) return decode(concat([concat(this.#head), tail]));
    return `${decode(concat(this.#head))}\n[... ${dropped} bytes left out ...]\n${decode(tail)}`;
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}
