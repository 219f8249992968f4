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
    this.#lastEventMs = clock.monotonicMs();
    this.#cancelRequest = this.#limit("request_timeout", timeouts.requestMs);
    this.#cancelProgress = this.#limit("first_output_timeout", timeouts.firstOutputMs);
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

  /** Events arrived. `output` tells whether any of the answer did. */
  noteEvents(output: boolean): void {
    this.#lastEventMs = this.#clock.monotonicMs();
    this.#began ||= output;
    this.#restart();
  }

  /** A comment arrived: a sign of life, but for a bounded time only. */
  noteComment(): void {
    if (!this.#began) return;
    const silentMs = this.#clock.monotonicMs() - this.#lastEventMs;
    if (silentMs < this.#timeouts.idleMs * COMMENT_LIFE_FACTOR) this.#restart();
  }

  /** Ends the limits. */
  close(): void {
    this.#cancelProgress();
    this.#cancelRequest();
    this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }

  #restart(): void {
    this.#cancelProgress();
    this.#cancelProgress = this.#began
      ? this.#limit("idle_timeout", this.#timeouts.idleMs)
      : this.#limit("first_output_timeout", this.#timeouts.firstOutputMs);
  }

  #limit(
    reason: Extract<Interruption, { type: "timeout" }>["reason"],
    afterMs: number,
  ): () => void {
    return this.#timers.after(
      afterMs,
      () => this.#interrupt({ type: "timeout", reason, seconds: afterMs / 1000 }),
    );
  }

  #interrupt(interruption: Interruption): void {
    this.#interruption ??= interruption;
    this.#controller.abort();
  }
}
