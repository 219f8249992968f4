/**
 * Time as a port. Durations and deadlines use `monotonicMs`; `wallMs` is informational only, so a
 * change of the wall clock can never extend a budget.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump. */
  wallMs(): number;
  /** Milliseconds since an arbitrary origin. Never goes back. */
  monotonicMs(): number;
}

/** Waiting as a port, so that back-off and deadlines run on a fake clock in tests. */
export interface Timers {
  /**
   * Runs `callback` once after `delayMs`. The returned function cancels it and is idempotent.
   * A pending timer keeps the process alive: cancel what is no longer wanted.
   */
  after(delayMs: number, callback: () => void): () => void;
}
