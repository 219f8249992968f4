import type { FluzoError } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import { NONE_LEFT } from "../../core/left_processes.ts";
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

/** What only commands have to tell. */
const REPORT = { exitCode: null, error: null, left: NONE_LEFT, capture: null } as const;

/** The report of an operation that failed with a typed error and had no effect. */
export function failed(error: FluzoError): ToolReport {
  const text = errorForModel(error);
  return { ...REPORT, outcome: "error", text, summary: text, error };
}

/** A report whose text is all there is. */
export function done(text: string, summary: string): ToolReport {
  return { ...REPORT, outcome: "ok", text, summary };
}

function errorForModel(error: FluzoError): string {
  const words = describeError(error);
  return words.remedy === "" ? words.what : `${words.what}. ${words.remedy}`;
}
