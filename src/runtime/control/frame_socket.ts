import type { Timers } from "../../core/clock.ts";
import { LinuxError } from "../linux/errno.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import type { Poller, Readiness, Watch } from "../linux/poller.ts";
import { receiveSome, sendSome } from "../linux/unix_socket.ts";
import { encodeFrame, FrameSplitter } from "./frames.ts";

/** Bytes of one read. */
const READ_BYTES = 65_536;

/** How long the rest of a frame that has begun may take, in milliseconds: both ends are local. */
const FRAME_TIMEOUT_MS = 5000;

/** How long the other end may take no byte of what is to be sent, in milliseconds. */
const WRITE_STALL_MS = 5000;

/** How the other end broke the rules of frames. `too_slow`: it did not finish one in time. */
export type Breach = "too_large" | "malformed" | "too_slow";

/** What a frame socket tells. */
export interface FrameHandlers {
  onFrame(text: string): void;
  /** Nothing more is read; whoever is told closes the connection, with a last word or without. */
  onBreach(breach: Breach): void;
  /** Told once; nothing is told after it. */
  onClosed(): void;
}

/**
 * Frames over a connected socket. Nothing here waits without a bound: neither for the rest of a
 * frame, nor for a reader, and what is read or waits to be sent has a cap.
 */
export class FrameSocket {
  readonly #fd: OwnedFd;
  readonly #watch: Watch;
  readonly #timers: Timers;
  readonly #handlers: FrameHandlers;
  readonly #maxUnsentBytes: number;
  readonly #splitter: FrameSplitter;
  readonly #into = new Uint8Array(READ_BYTES);
  #unsent: Uint8Array<ArrayBuffer>[] = [];
  #unsentBytes = 0;
  #reading = true;
  #closeOnceSent = false;
  #closed = false;
  #cancelFrameTimer: (() => void) | null = null;
  #cancelStallTimer: (() => void) | null = null;

  constructor(
    { fd, poller, timers, handlers, maxFrameBytes, maxUnsentBytes }: {
      /** Its calls must not block; closed with this. */
      readonly fd: OwnedFd;
      readonly poller: Poller;
      readonly timers: Timers;
      readonly handlers: FrameHandlers;
      /** Longest frame that is read. */
      readonly maxFrameBytes: number;
      /** Most that waits to be sent; a frame beyond it ends the connection. */
      readonly maxUnsentBytes: number;
    },
  ) {
    this.#fd = fd;
    this.#timers = timers;
    this.#handlers = handlers;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#splitter = new FrameSplitter(maxFrameBytes);
    this.#watch = poller.watch(fd, (ready) => this.#onReady(ready));
  }

  /** Sends a frame, in order, as soon as the other end takes it. */
  send(value: unknown): void {
    if (this.#closed || this.#closeOnceSent) return;
    const bytes = encodeFrame(value);
    if (this.#unsentBytes + bytes.length > this.#maxUnsentBytes) return this.close();
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
    this.#flush();
  }

  /** Stops and resumes reading; frames that are here already wait as well. */
  setReading(reading: boolean): void {
    if (this.#closed || this.#reading === reading) return;
    this.#reading = reading;
    this.#want();
    if (reading) this.#takeFrames();
  }

  /** Ends the connection at once. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopFrameTimer();
    this.#stopStallTimer();
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.#watch.end();
    this.#fd.close();
    this.#handlers.onClosed();
  }

  /** Reads nothing more, and ends the connection once everything is sent. */
  closeOnceSent(): void {
    if (this.#closed) return;
    this.#reading = false;
    this.#closeOnceSent = true;
    this.#stopFrameTimer();
    if (this.#unsentBytes === 0) this.close();
    else this.#want();
  }

  #onReady({ readable, writable }: Readiness): void {
    if (writable) this.#flush();
    if (this.#closed || !readable) return;
    // Nothing is asked for while reading is off, so this is the hang-up: nobody is there to answer.
    if (!this.#reading) return this.close();
    this.#receive();
  }

  /** One read a turn: a fast sender must not keep others waiting. */
  #receive(): void {
    let count: number | null;
    try {
      count = receiveSome(this.#fd, this.#into);
    } catch (failure) {
      if (failure instanceof LinuxError) return this.close();
      throw failure;
    }
    if (count === null) return;
    if (count === 0) return this.close();
    this.#splitter.push(this.#into.subarray(0, count));
    this.#takeFrames();
  }

  #takeFrames(): void {
    while (this.#reading && !this.#closed) {
      const next = this.#splitter.next();
      switch (next.type) {
        case "frame":
          this.#stopFrameTimer();
          this.#handlers.onFrame(next.text);
          continue;
        case "partial":
          return this.#awaitRest();
        case "too_large":
        case "malformed":
          return this.#breach(next.type);
      }
    }
  }

  /** The time for a frame begins with its first byte and is not renewed by its others. */
  #awaitRest(): void {
    if (!this.#splitter.partial) return this.#stopFrameTimer();
    this.#cancelFrameTimer ??= this.#timers.after(
      FRAME_TIMEOUT_MS,
      () => this.#breach("too_slow"),
    );
  }

  #breach(breach: Breach): void {
    this.#stopFrameTimer();
    this.#reading = false;
    this.#want();
    this.#handlers.onBreach(breach);
  }

  #stopFrameTimer(): void {
    this.#cancelFrameTimer?.();
    this.#cancelFrameTimer = null;
  }

  #flush(): void {
    while (!this.#closed) {
      const first = this.#unsent[0];
      if (first === undefined) break;
      let count: number | null;
      try {
        count = sendSome(this.#fd, first);
      } catch (failure) {
        if (failure instanceof LinuxError) return this.close();
        throw failure;
      }
      if (count === null) break;
      this.#stopStallTimer();
      this.#unsentBytes -= count;
      if (count === first.length) this.#unsent.shift();
      else this.#unsent[0] = first.subarray(count);
    }
    if (this.#closed) return;
    if (this.#unsentBytes > 0) {
      this.#cancelStallTimer ??= this.#timers.after(WRITE_STALL_MS, () => this.close());
    } else if (this.#closeOnceSent) return this.close();
    this.#want();
  }

  #stopStallTimer(): void {
    this.#cancelStallTimer?.();
    this.#cancelStallTimer = null;
  }

  #want(): void {
    this.#watch.want({ reading: this.#reading, writing: this.#unsentBytes > 0 });
  }
}
