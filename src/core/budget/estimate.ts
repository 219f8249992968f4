/** Bytes of request text that count as one token before the server has said otherwise. */
const BYTES_PER_TOKEN = 3;

/** The reported ratio may move an estimate by at most this factor either way. */
const MAX_CORRECTION = 4;

/** What a server reported for a request whose size is known. */
export interface ReportedSize {
  readonly bytes: number;
  readonly inputTokens: number;
}

/**
 * Estimates the tokens of a request: ceil(bytes / 3), corrected by the ratio of the last request
 * whose usage was reported.
 */
export function estimateTokens(bytes: number, seen: ReportedSize | null): number {
  const plain = Math.ceil(bytes / BYTES_PER_TOKEN);
  if (seen === null || seen.bytes <= 0 || seen.inputTokens <= 0) return plain;
  const ratio = seen.inputTokens / (seen.bytes / BYTES_PER_TOKEN);
  const bounded = Math.min(MAX_CORRECTION, Math.max(1 / MAX_CORRECTION, ratio));
  return Math.ceil(plain * bounded);
}

/** Input tokens kept free: the greater of 1,024 and 5 % of the window. */
export function safetyReserve(contextWindow: number): number {
  return Math.max(1024, Math.ceil(contextWindow * 0.05));
}

/** Input tokens a request may use. Never negative. */
export function availableInput(contextWindow: number, maxOutputTokens: number): number {
  return Math.max(0, contextWindow - maxOutputTokens - safetyReserve(contextWindow));
}
