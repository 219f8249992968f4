import type { Clock, Timers } from "../../src/core/clock.ts";

/** Time that moves only when a test says so; due timers run in order of their time. */
export class ManualClock implements Clock, Timers {
  #nowMs = 0;
  #next = 0;
  readonly #timers = new Map<number, { readonly atMs: number; readonly callback: () => void }>();

  wallMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const id = this.#next++;
    this.#timers.set(id, { atMs: this.#nowMs + Math.max(0, delayMs), callback });
    return () => {
      this.#timers.delete(id);
    };
  }

  /** Timers that have not run. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on by `ms` and runs what becomes due, including timers set meanwhile. */
  advance(ms: number): void {
    const end = this.#nowMs + ms;
    while (true) {
      let due: { readonly id: number; readonly atMs: number } | null = null;
      for (const [id, { atMs }] of this.#timers) {
        if (atMs <= end && (due === null || atMs < due.atMs)) due = { id, atMs };
      }
      if (due === null) break;
      const timer = this.#timers.get(due.id);
      this.#timers.delete(due.id);
      this.#nowMs = due.atMs;
      timer?.callback();
    }
    this.#nowMs = end;
  }
}
