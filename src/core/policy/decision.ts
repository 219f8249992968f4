/** Policy decisions, from weakest to strictest; the strictest of several rules wins. */
export const DECISIONS = ["allow", "ask", "deny"] as const;
export type Decision = typeof DECISIONS[number];

/** The stricter of two decisions. */
export function stricter(a: Decision, b: Decision): Decision {
  return DECISIONS.indexOf(a) >= DECISIONS.indexOf(b) ? a : b;
}
