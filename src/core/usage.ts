/** Tokens of one provider request as the server reported them; null means it did not say. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number | null;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number | null;
  /** Subset of `inputTokens`. */
  readonly cachedInputTokens: number | null;
  /** Subset of `inputTokens`. */
  readonly cacheWriteTokens: number | null;
  /** Subset of `outputTokens`. */
  readonly reasoningTokens: number | null;
}

/** Nothing was reported. */
export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
};
