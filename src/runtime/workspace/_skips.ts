/** Why discovery leaves something out. */
export type SkipReason =
  | "protected"
  | "secret"
  | "link"
  | "special"
  | "binary"
  | "too_large"
  | "nested_repository"
  | "vanished"
  | "refused";

/** Counts what was left out, so that nothing is left out silently. */
export class Skips {
  readonly #counts = new Map<SkipReason, number>();

  add(reason: SkipReason): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
