import type { ChatFailure } from "./provider.ts";

/** Back-off before the first and the second retry, in milliseconds. */
const BACK_OFF_MS = [1000, 2000] as const;

/**
 * How long to wait before another try, or null for none. Only failures that are transient, proven
 * to have ended at the server and free of any output are tried again; rate, quota and capacity
 * rejections never are, and a server's wish (Retry-After) is not obeyed.
 *
 * @param retry Retries made so far.
 */
export function retryDelayMs(failure: ChatFailure, retry: number): number | null {
  if (failure.outputBegan || !isTransient(failure)) return null;
  return BACK_OFF_MS[retry] ?? null;
}

function isTransient({ error }: ChatFailure): boolean {
  switch (error.reason) {
    case "loading":
    case "unavailable":
    case "connection_failed":
    case "incomplete_stream":
    case "first_output_timeout":
      return true;
    case "redirect_blocked":
    case "authentication":
    case "rate_limited":
    case "quota_exhausted":
    case "capacity_rejected":
    case "context_overflow":
    case "invalid_request":
    case "not_found":
    case "tools_unsupported":
    case "idle_timeout":
    case "request_timeout":
    case "stream_error":
    case "content_filtered":
    case "output_limit":
    case "protocol_error":
    case "net_permission":
      return false;
  }
}
