import type { OperationScope } from "../../core/policy/scope.ts";
import { ok, type Result } from "../../core/result.ts";
import type { PreparedOperation, Refusal, ToolReport } from "./tool.ts";

/** Prepares an operation that only looks: nothing to lose, nothing to discard. */
export function inspection(
  scope: OperationScope,
  perform: (signal: AbortSignal) => Promise<ToolReport>,
): Promise<Result<PreparedOperation, Refusal>> {
  return Promise.resolve(ok({
    scope,
    before: null,
    after: null,
    preImage: null,
    perform: ({ signal }) => perform(signal),
    discard: () => Promise.resolve(),
  }));
}
