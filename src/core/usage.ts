import { isObject } from "./json.ts";
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

/**
 * Reads a usage object in any of the spellings servers use. A count that is missing, negative or
 * not a whole number is unknown, and a part that is larger than its whole is dropped.
 *
 * @returns Null when it says nothing.
 */
export function normalizeUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = count(raw["prompt_tokens"]) ?? count(raw["input_tokens"]) ??
    sum(count(raw["prompt_cache_hit_tokens"]), count(raw["prompt_cache_miss_tokens"]));
  const output = count(raw["completion_tokens"]) ?? count(raw["output_tokens"]);
  if (input === null && output === null) return null;
  const inputDetails = child(raw, "prompt_tokens_details") ?? child(raw, "input_tokens_details");
  const outputDetails = child(raw, "completion_tokens_details") ??
    child(raw, "output_tokens_details");
  return {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: partOf(
      input,
      count(inputDetails?.["cached_tokens"]) ?? count(raw["prompt_cache_hit_tokens"]) ??
        count(raw["cached_tokens"]),
    ),
    cacheWriteTokens: partOf(input, count(inputDetails?.["cache_write_tokens"])),
    reasoningTokens: partOf(output, count(outputDetails?.["reasoning_tokens"])),
  };
}

function child(
  object: Readonly<Record<string, unknown>>,
  key: string,
): Readonly<Record<string, unknown>> | null {
  const value = object[key];
  return isObject(value) ? value : null;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function partOf(whole: number | null, part: number | null): number | null {
  return part !== null && whole !== null && part > whole ? null : part;
}
