import type { ToolResultMessage } from "../../core/conversation/message.ts";
import type { FluzoError } from "../../core/errors.ts";

/** Equal calls with equal results after which the model is plainly going in circles. */
const MAX_EQUAL_CALLS = 4;

/**
 * Latest calls in which equal ones are counted: a circle of up to four calls is noticed when it has
 * been walked `MAX_EQUAL_CALLS` times.
 */
const WINDOW_CALLS = 16;

/** Calls in a row that may fail or be denied: a good model needs a few, a lost one does not stop. */
const MAX_FAILED_CALLS = 12;

/** Why an attempt should stop although its budget is not used up. */
export interface Stuck {
  readonly reason: "repeated_call" | "no_progress";
  readonly error: FluzoError;
}

/** Notices a model that goes in circles or fails at everything it tries. */
export class ProgressGuard {
  #window: readonly string[] = [];
  #failed = 0;

  /** Notes a call with what came of it. */
  note(
    call: { readonly name: string; readonly argumentsText: string },
    { text, outcome }: Pick<ToolResultMessage, "text" | "outcome">,
  ): Stuck | null {
    const pair = JSON.stringify([call.name, call.argumentsText, text]);
    this.#window = [...this.#window, pair].slice(-WINDOW_CALLS);
    this.#failed = outcome === "ok" ? 0 : this.#failed + 1;
    if (this.#window.filter((earlier) => earlier === pair).length >= MAX_EQUAL_CALLS) {
      return {
        reason: "repeated_call",
        error: { type: "repeated_call", tool: call.name, times: MAX_EQUAL_CALLS },
      };
    }
    return this.#failed >= MAX_FAILED_CALLS
      ? { reason: "no_progress", error: { type: "no_progress", calls: this.#failed } }
      : null;
  }
}
