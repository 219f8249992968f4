import type { FluzoError } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import { err, type Result } from "../../core/result.ts";
import type { Refusal, ToolReport } from "./tool.ts";

/** Turns a typed error into what the model reads when a call cannot be prepared. */
export function refuse(error: FluzoError): Result<never, Refusal> {
  return err({ text: errorForModel(error), error });
}

/** Refuses with words only: the call itself is wrong. */
export function refuseText(text: string): Result<never, Refusal> {
  return err({ text, error: null });
}

/** The report of an operation that failed with a typed error and had no effect. */
export function failed(error: FluzoError): ToolReport {
  const text = errorForModel(error);
  return { outcome: "error", text, summary: text, exitCode: null, error, capture: null };
}

/** A report whose text is all there is. */
export function done(text: string, summary: string): ToolReport {
  return { outcome: "ok", text, summary, exitCode: null, error: null, capture: null };
}

function errorForModel(error: FluzoError): string {
  const words = describeError(error);
  return words.remedy === "" ? words.what : `${words.what}. ${words.remedy}`;
}
