import {
  type AdmissionEffect,
  type AdmissionInput,
  type AdmissionLimits,
  type AdmissionState,
  newAdmission,
  nextExpiryMs,
  type RefusalReason,
  stepAdmission,
  type Ticket,
} from "../../core/admission/admission.ts";
import type { Clock, Timers } from "../../core/clock.ts";
import type {
  CancelledError,
  CapacityExhaustedError,
  CapacityWaitTimeoutError,
} from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";

export type AdmissionError = CapacityExhaustedError | CapacityWaitTimeoutError | CancelledError;

/** A reserved slot. Exactly one of the two ends it; a lease that is dropped keeps its slot. */
export interface Lease {
  /** The server proved the end of the request, or it was never dispatched. */
  release(): void;
  /** No proof: the slot stays taken until the process ends. */
  markUncertain(): void;
}

/**
 * The one admission actor of a process: runs the pure state machine in time. Every inference of
 * every kind passes here.
 */
export class AdmissionQueue {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #waiting = new Map<
    Ticket["id"],
    { readonly ticket: Ticket; readonly settle: (result: Result<Lease, AdmissionError>) => void }
  >();
  #state: AdmissionState;
  #cancelTimer: (() => void) | null = null;

  constructor(
    limits: AdmissionLimits,
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
  ) {
    this.#state = newAdmission(limits);
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Waits for a slot, at most as long as the pool allows. An abort withdraws the request. */
  acquire(ticket: Ticket, signal: AbortSignal): Promise<Result<Lease, AdmissionError>> {
    if (signal.aborted) return Promise.resolve(err({ type: "cancelled", by: "user" }));
    return new Promise((resolve) => {
      const onAbort = (): void => {
        if (!this.#waiting.delete(ticket.id)) return;
        this.#apply({ type: "withdraw", id: ticket.id });
        resolve(err({ type: "cancelled", by: "user" }));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(ticket.id, {
        ticket,
        settle: (result) => {
          signal.removeEventListener("abort", onAbort);
          resolve(result);
        },
      });
      this.#apply({ type: "submit", ticket, nowMs: this.#clock.monotonicMs() });
    });
  }

  /** Slots that are taken without anybody knowing whether they are still used. */
  get uncertain(): number {
    return this.#state.holders.filter((held) => held.state === "uncertain").length;
  }

  #apply(input: AdmissionInput): void {
    const step = stepAdmission(this.#state, input);
    this.#state = step.state;
    for (const effect of step.effects) this.#settle(effect);
    this.#schedule();
  }

  #settle(effect: AdmissionEffect): void {
    const waiting = this.#waiting.get(effect.id);
    if (waiting === undefined) return;
    this.#waiting.delete(effect.id);
    switch (effect.type) {
      case "admitted":
        waiting.settle(ok(this.#lease(effect.id)));
        return;
      case "refused":
        waiting.settle(err(this.#refusal(waiting.ticket, effect.reason)));
        return;
    }
  }

  #lease(id: Ticket["id"]): Lease {
    let open = true;
    const end = (type: "release" | "mark_uncertain"): void => {
      if (!open) return;
      open = false;
      this.#apply({ type, id });
    };
    return { release: () => end("release"), markUncertain: () => end("mark_uncertain") };
  }

  #refusal(ticket: Ticket, reason: RefusalReason): AdmissionError {
    switch (reason) {
      case "wait_timeout":
        return {
          type: "capacity_wait_timeout",
          capacityId: ticket.capacityId,
          waitedSeconds: Math.round(
            (this.#state.limits.pools.get(ticket.pool)?.queueTimeoutMs ?? 0) / 1000,
          ),
        };
      case "queue_full":
      case "uncertain_slots":
      case "no_allowance":
        return {
          type: "capacity_exhausted",
          capacityId: ticket.capacityId,
          uncertain: this.uncertain,
        };
    }
  }

  #schedule(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const at = nextExpiryMs(this.#state);
    if (at === null) return;
    const delayMs = Math.max(0, at - this.#clock.monotonicMs());
    this.#cancelTimer = this.#timers.after(delayMs, () => {
      this.#apply({ type: "expire", nowMs: this.#clock.monotonicMs() });
    });
  }
}
