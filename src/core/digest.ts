/** A content digest: the 64 lower-case hexadecimal digits of a SHA-256. */
export type Digest = string & { readonly __digest: true };

const DIGEST_REGEXP = /^[0-9a-f]{64}$/;

/** Parses text as a digest, or returns null. */
export function parseDigest(text: string): Digest | null {
  return DIGEST_REGEXP.test(text) ? text as Digest : null;
}
