import type { OperationId } from "../../core/ids.ts";
import { approvalKey, type OperationScope } from "../../core/policy/scope.ts";

/** What came of an operation that waited. */
export type Answer =
  | { readonly type: "approved" }
  | { readonly type: "denied"; readonly reason: string }
  | { readonly type: "cancelled" };

/** An operation that waits for the user. */
export interface Waiting {
  readonly operationId: OperationId;
  readonly scope: OperationScope;
  answer(answer: Answer): void;
}

/** Why an answer was not taken. */
export type NotTaken = "not_waiting" | "changed";

/**
 * Operations of a running attempt that wait for the user, in the order they were asked for. Each is
 * answered once: taking one removes it, so of two answers only the first finds it.
 */
export class ApprovalDesk {
  readonly #waiting = new Map<OperationId, Waiting>();

  /** Waits for the answer. Cancelling the attempt is one. */
  wait(operationId: OperationId, scope: OperationScope, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const cancelled = () => {
        this.#waiting.delete(operationId);
        resolve({ type: "cancelled" });
      };
      if (signal.aborted) return cancelled();
      signal.addEventListener("abort", cancelled, { once: true });
      this.#waiting.set(operationId, {
        operationId,
        scope,
        answer: (answer) => {
          signal.removeEventListener("abort", cancelled);
          resolve(answer);
        },
      });
    });
  }

  /**
   * Takes a waiting operation to answer it.
   *
   * @param seen `approvalKey` of the scope that the user saw: nothing else is answered.
   */
  take(operationId: OperationId, seen: string): Waiting | NotTaken {
    const waiting = this.#waiting.get(operationId);
    if (waiting === undefined) return "not_waiting";
    if (approvalKey(waiting.scope) !== seen) return "changed";
    this.#waiting.delete(operationId);
    return waiting;
  }

  /** Ids in the order they were asked for. */
  get pending(): readonly OperationId[] {
    return [...this.#waiting.keys()];
  }
}
