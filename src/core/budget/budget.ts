import type { BudgetLimit } from "../errors.ts";

/** What a task may consume. Consumption never resets; only the user extends a limit. */
export interface BudgetLimits {
  readonly maxTurns: number;
  readonly maxActiveSeconds: number;
  readonly maxToolCalls: number;
  readonly maxTotalTokens: number;
}

/** What a task has consumed, over all its attempts. */
export interface Consumption {
  readonly turns: number;
  /** Wall time without waits for the user. */
  readonly activeMs: number;
  readonly toolCalls: number;
  /** Reported where the server reported, estimated where it did not. */
  readonly tokens: number;
  /** The part of `tokens` that is an estimate. */
  readonly estimatedTokens: number;
}

export const NO_CONSUMPTION: Consumption = {
  turns: 0,
  activeMs: 0,
  toolCalls: 0,
  tokens: 0,
  estimatedTokens: 0,
};

/** A limit that would be exceeded, with both figures. */
export interface Exhausted {
  readonly limit: BudgetLimit;
  readonly consumed: number;
  readonly allowed: number;
}

/** Adds what was used. Negative or non-finite amounts are a defect and count as nothing. */
export function consume(before: Consumption, used: Partial<Consumption>): Consumption {
  const add = (a: number, b: number | undefined): number =>
    a + (b !== undefined && Number.isFinite(b) && b > 0 ? b : 0);
  return {
    turns: add(before.turns, used.turns),
    activeMs: add(before.activeMs, used.activeMs),
    toolCalls: add(before.toolCalls, used.toolCalls),
    tokens: add(before.tokens, used.tokens),
    estimatedTokens: add(before.estimatedTokens, used.estimatedTokens),
  };
}

/**
 * Whether one more turn fits: a turn is left, time is left, and the estimated input plus the
 * largest possible output fits what remains of the tokens.
 */
export function checkTurn(
  limits: BudgetLimits,
  consumed: Consumption,
  estimatedTokens: number,
): Exhausted | null {
  if (consumed.turns >= limits.maxTurns) {
    return { limit: "turns", consumed: consumed.turns, allowed: limits.maxTurns };
  }
  const time = checkTime(limits, consumed);
  if (time !== null) return time;
  if (consumed.tokens + estimatedTokens > limits.maxTotalTokens) {
    return { limit: "total_tokens", consumed: consumed.tokens, allowed: limits.maxTotalTokens };
  }
  return null;
}

/** Whether one more tool call fits. */
export function checkToolCall(limits: BudgetLimits, consumed: Consumption): Exhausted | null {
  if (consumed.toolCalls >= limits.maxToolCalls) {
    return { limit: "tool_calls", consumed: consumed.toolCalls, allowed: limits.maxToolCalls };
  }
  return checkTime(limits, consumed);
}

function checkTime(limits: BudgetLimits, consumed: Consumption): Exhausted | null {
  const seconds = Math.floor(consumed.activeMs / 1000);
  return consumed.activeMs >= limits.maxActiveSeconds * 1000
    ? { limit: "active_seconds", consumed: seconds, allowed: limits.maxActiveSeconds }
    : null;
}
