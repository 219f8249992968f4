/** An error in words. Neither text ends with a period; `remedy` is empty when nothing can be done. */
export interface ErrorText {
  /** What happened, and where. */
  readonly what: string;
  /** What to do about it. */
  readonly remedy: string;
}
