import type { Timers } from "../../core/clock.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { MessageId, RequestId, SessionId, TaskId } from "../../core/ids.ts";

/** Text that is written at once when this much waits, in UTF-16 units. */
const CHECKPOINT_UNITS = 8192;

/** Longest time streamed text waits for its checkpoint: what a crash may lose. */
const CHECKPOINT_DELAY_MS = 500;

/**
 * Writes the text of a streaming answer to the journal in bounded batches: a crash loses at most
 * what is younger than `CHECKPOINT_DELAY_MS` or smaller than `CHECKPOINT_UNITS`. One append is in
 * flight at a time; the stream never waits for it. An answer that ends before its first checkpoint
 * is written only once, whole.
 */
export class StreamRecorder {
  readonly #append: (events: readonly DomainEvent[]) => Promise<unknown>;
  readonly #timers: Timers;
  readonly #ids: {
    readonly messageId: MessageId;
    readonly sessionId: SessionId;
    readonly taskId: TaskId;
    readonly requestId: () => RequestId;
  };
  #waiting = "";
  #offset = 0;
  #started = false;
  #cancelTimer: (() => void) | null = null;
  #inFlight: Promise<void> | null = null;
  #failure: unknown = null;
  #closed = false;

  constructor(
    ids: {
      readonly messageId: MessageId;
      readonly sessionId: SessionId;
      readonly taskId: TaskId;
      readonly requestId: () => RequestId;
    },
    services: {
      readonly append: (events: readonly DomainEvent[]) => Promise<unknown>;
      readonly timers: Timers;
    },
  ) {
    this.#ids = ids;
    this.#append = services.append;
    this.#timers = services.timers;
  }

  /** Whether the journal already has a part of the message. */
  get started(): boolean {
    return this.#started;
  }

  /** Takes a piece of redacted text. */
  push(text: string): void {
    if (this.#closed || text === "") return;
    this.#waiting += text;
    if (this.#inFlight !== null) return;
    if (this.#waiting.length >= CHECKPOINT_UNITS) {
      this.#flush();
      return;
    }
    this.#cancelTimer ??= this.#timers.after(CHECKPOINT_DELAY_MS, () => this.#flush());
  }

  /**
   * Ends the recording: what waits is dropped, since the whole message is written next.
   *
   * @throws What a checkpoint failed with.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    await this.#inFlight;
    if (this.#failure !== null) throw this.#failure;
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#closed || this.#waiting === "" || this.#failure !== null) return;
    const text = this.#waiting;
    this.#waiting = "";
    const { messageId, sessionId, taskId } = this.#ids;
    const events: DomainEvent[] = [];
    if (!this.#started) {
      const requestId = this.#ids.requestId();
      events.push({ type: "message_started", messageId, sessionId, taskId, requestId });
      this.#started = true;
    }
    events.push({ type: "message_checkpointed", messageId, offset: this.#offset, text });
    this.#offset += text.length;
    this.#inFlight = this.#append(events).then(() => {
      this.#inFlight = null;
      if (this.#waiting.length >= CHECKPOINT_UNITS) this.#flush();
      else if (this.#waiting !== "" && !this.#closed) {
        this.#cancelTimer ??= this.#timers.after(CHECKPOINT_DELAY_MS, () => this.#flush());
      }
    }, (failure: unknown) => {
      this.#inFlight = null;
      this.#failure = failure;
    });
  }
}
