import type { ToolDefinition } from "../../core/conversation/message.ts";
import type { Digest } from "../../core/digest.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { OperationId } from "../../core/ids.ts";
import type { LeftProcesses } from "../../core/left_processes.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import type { Result } from "../../core/result.ts";
import type { PerformControls, ToolEffects } from "./effects.ts";
import { type Arguments, type Fields, parseArguments, toJsonSchema } from "./parameters.ts";

/** What a tool reports when it has run. */
export interface ToolReport {
  readonly outcome: "ok" | "error" | "interrupted";
  /** What the model reads. Redacted and cut to the context cap by the dispatcher. */
  readonly text: string;
  /** One line for people. */
  readonly summary: string;
  readonly exitCode: number | null;
  /** The typed failure, when there is one: the dispatcher counts refusals by it. */
  readonly error: FluzoError | null;
  /** Processes that were seen alive when it was over. */
  readonly left: LeftProcesses;
  /** Captured output to keep as an artifact; null when the text is all there is. */
  readonly capture: { readonly bytes: Uint8Array; readonly droppedBytes: number } | null;
}

/**
 * An operation that has been looked at but not begun. Until `perform` is called nothing has
 * changed; `discard` forgets it. The scope is exactly what `perform` will do.
 */
export interface PreparedOperation {
  readonly scope: OperationScope;
  /** Content before and after, for a change of a file. Null where that cannot be known. */
  readonly before: Digest | "absent" | null;
  readonly after: Digest | "absent" | null;
  /** Bytes that the change loses; null when it loses none. */
  readonly preImage: Uint8Array | null;
  perform(controls: PerformControls): Promise<ToolReport>;
  discard(): Promise<void>;
}

/** Why an operation could not even be prepared: the text for the model and the typed error. */
export interface Refusal {
  readonly text: string;
  readonly error: FluzoError | null;
}

/** A tool: what the model sees, and how a call of it becomes a prepared operation. */
export interface Tool {
  readonly definition: ToolDefinition;
  prepare(
    argumentsText: string,
    context: { readonly effects: ToolEffects; readonly operationId: OperationId },
  ): Promise<Result<PreparedOperation, Refusal>>;
}

/** Declares a tool; arguments are checked before `prepare` sees them. */
export function defineTool<F extends Fields>(spec: {
  readonly name: string;
  readonly description: string;
  readonly fields: F;
  readonly prepare: (
    args: Arguments<F>,
    context: { readonly effects: ToolEffects; readonly operationId: OperationId },
  ) => Promise<Result<PreparedOperation, Refusal>>;
}): Tool {
  return {
    definition: {
      name: spec.name,
      description: spec.description.trim(),
      parameters: toJsonSchema(spec.fields),
    },
    prepare: (argumentsText, context) => {
      const args = parseArguments(spec.fields, JSON.parse(argumentsText));
      if (!args.ok) {
        return Promise.resolve({ ok: false, error: { text: args.error, error: null } });
      }
      return spec.prepare(args.value, context);
    },
  };
}
