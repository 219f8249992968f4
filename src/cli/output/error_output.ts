import { describeError } from "../../core/error_text.ts";
import type { FluzoError } from "../../core/errors.ts";
import { EXIT_CODES, exitFor } from "../exit_codes.ts";
import { safeText } from "./safe_text.ts";
import type { Style } from "./style.ts";

/** An error for standard error: what happened and where, then what to do. */
export function errorText(error: FluzoError, style: Style): string {
  const { what, remedy } = describeError(error);
  const next = remedy === "" ? "" : `\n${safeText(remedy)}.`;
  return `${style("bad", "fluzo:")} ${safeText(what)}.${next}\n`;
}

/** An error as it stands in JSON output. */
export function errorJson(error: FluzoError): Readonly<Record<string, unknown>> {
  const { what, remedy } = describeError(error);
  const name = exitFor(error);
  return { type: error.type, exit: { code: EXIT_CODES[name], name }, message: what, remedy, error };
}
