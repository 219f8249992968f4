import type { Clock } from "../core/clock.ts";
import { formatId, type IdSource } from "../core/ids.ts";

/** Bytes that one id uses. */
const RANDOM_BYTES = 16;

/** Ids from the platform's cryptographic randomness, ordered by the wall clock. */
export function randomIds(clock: Clock): IdSource {
  const random = new Uint8Array(RANDOM_BYTES);
  return {
    next: (kind) => formatId(kind, clock.wallMs(), crypto.getRandomValues(random)),
  };
}

/** A random identifier of `bytes` bytes as lower-case hexadecimal, for traces and spans. */
export function randomHex(bytes: number): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}
