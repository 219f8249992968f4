import type { FluzoError } from "../../core/errors.ts";
import type { CommandContext } from "../composition.ts";
import { EXIT_CODES, exitFor } from "../exit_codes.ts";
import { errorJson, errorText } from "../output/error_output.ts";
import { safeJson } from "../output/safe_text.ts";

/** Ends a command with an error, in the format that was asked for. */
export async function failWith(context: CommandContext, error: FluzoError): Promise<number> {
  if (context.format !== "text") {
    await context.stdout.write(`${safeJson({ type: "error", ...errorJson(error) })}\n`);
  }
  await context.stderr.write(errorText(error, context.errorStyle));
  return EXIT_CODES[exitFor(error)];
}

/** Ends a command with its result: a text for people, or a value as one line of JSON. */
export async function succeedWith(
  context: CommandContext,
  result: { readonly text: string; readonly json: unknown },
): Promise<number> {
  await context.stdout.write(
    context.format === "text" ? result.text : `${safeJson(result.json)}\n`,
  );
  return EXIT_CODES.ok;
}
