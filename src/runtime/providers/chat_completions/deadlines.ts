import type { Clock, Timers } from "../../../core/clock.ts";
import type { ProviderReason } from "../../../core/errors.ts";
import type { ProviderTimeouts } from "../provider.ts";

/** Why a request was ended from here. */
export type Interruption =
  | { readonly type: "user" }
  | {
    readonly type: "timeout";
    readonly reason: Extract<
      ProviderReason,
      "first_output_timeout" | "idle_timeout" | "request_timeout"
    >;
    readonly seconds: number;
  };

/** How much longer than the idle limit a server may live on keep-alive comments alone. */
const COMMENT_LIFE_FACTOR = 4;

/**
 * The time limits of one request. Aborts its signal when one runs out; which one is kept. The limit
 * on the connection is part of the one on the first output: the platform does not tell when the
 * connection stands.
 */
export class Deadlines {
  readonly #timeouts: ProviderTimeouts;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #onOuterAbort = (): void => this.#interrupt({ type: "user" });
  #interruption: Interruption | null = null;
  #cancelProgress: () => void;
  readonly #cancelRequest: () => void;
  #began = false;
  #lastEventMs: number;
  /** The last event, or the last comment that counted: what the limit is measured from. */
  #lastSignMs: number;

  constructor(
    timeouts: ProviderTimeouts,
    { clock, timers, signal }: {
      readonly clock: Clock;
      readonly timers: Timers;
      readonly signal: AbortSignal;
    },
  ) {
    this.#timeouts = timeouts;
    this.#clock = clock;
    this.#timers = timers;
    this.#outer = signal;
    this.#lastEventMs = this.#lastSignMs = clock.monotonicMs();
    this.#cancelRequest = timers.after(
      timeouts.requestMs,
      () => this.#timedOut("request_timeout", timeouts.requestMs),
    );
    this.#cancelProgress = timers.after(timeouts.firstOutputMs, () => this.#checkProgress());
    signal.addEventListener("abort", this.#onOuterAbort, { once: true });
    if (signal.aborted) this.#onOuterAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the signal was aborted, or null. */
  get interruption(): Interruption | null {
    return this.#interruption;
  }

  /** Events arrived. `output` tells whether any of the answer did. Sets no timer: it is called often. */
  noteEvents(output: boolean): void {
    this.#lastEventMs = this.#lastSignMs = this.#clock.monotonicMs();
    if (this.#began || !output) return;
    this.#began = true;
    // The limit is another one from here on, and usually a shorter one.
    this.#wait(this.#timeouts.idleMs);
  }

  /** A comment arrived: a sign of life, but for a bounded time only. */
  noteComment(): void {
    if (!this.#began) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastEventMs < this.#timeouts.idleMs * COMMENT_LIFE_FACTOR) {
      this.#lastSignMs = nowMs;
    }
  }

  /** Ends the limits. */
  close(): void {
    this.#cancelProgress();
    this.#cancelRequest();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }

  /** The timer ran out: if something came meanwhile, the limit is measured from there. */
  #checkProgress(): void {
    const limitMs = this.#began ? this.#timeouts.idleMs : this.#timeouts.firstOutputMs;
    const silentMs = this.#clock.monotonicMs() - this.#lastSignMs;
    if (silentMs < limitMs) this.#wait(limitMs - silentMs);
    else this.#timedOut(this.#began ? "idle_timeout" : "first_output_timeout", limitMs);
  }

  #wait(ms: number): void {
    this.#cancelProgress();
    this.#cancelProgress = this.#timers.after(ms, () => this.#checkProgress());
  }

  #timedOut(
    reason: Extract<Interruption, { type: "timeout" }>["reason"],
    limitMs: number,
  ): void {
    this.#interrupt({ type: "timeout", reason, seconds: limitMs / 1000 });
  }

  #interrupt(interruption: Interruption): void {
    this.#interruption ??= interruption;
    this.#controller.abort();
  }
}
