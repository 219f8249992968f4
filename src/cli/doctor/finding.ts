import { describeError } from "../../core/error_text.ts";
import type { FluzoError } from "../../core/errors.ts";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  /** `note` is worth knowing and stops nothing. */
  readonly state: "ok" | "note" | "problem";
  readonly detail: string;
  /** What to do; empty where there is nothing to do. */
  readonly remedy: string;
}

/** Something that is as it should be. */
export function good(check: string, detail: string): Finding {
  return { check, state: "ok", detail, remedy: "" };
}

/** Something worth knowing. */
export function note(check: string, detail: string, remedy = ""): Finding {
  return { check, state: "note", detail, remedy };
}

/** Something that stops Fluzo from working, or from working safely. */
export function problem(check: string, detail: string, remedy: string): Finding {
  return { check, state: "problem", detail, remedy };
}

/** An error that starting would meet as well. */
export function failure(check: string, error: FluzoError): Finding {
  const { what, remedy } = describeError(error);
  return problem(check, what, remedy);
}
