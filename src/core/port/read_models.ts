import type { BudgetLimits, Consumption } from "../budget/budget.ts";
import type { Digest } from "../digest.ts";
import type { Artifact, Baseline, TaskResult } from "../events/event.ts";
import type {
  ArtifactId,
  AttemptId,
  InterventionId,
  OperationId,
  SessionId,
  TaskId,
} from "../ids.ts";
import type { LeftProcesses } from "../left_processes.ts";
import type { AttemptState } from "../lifecycle/attempt.ts";
import type { OperationState } from "../lifecycle/operation.ts";
import type { TaskReason, TaskState } from "../lifecycle/task.ts";
import type { Grant } from "../policy/grant.ts";
import type { OperationScope } from "../policy/scope.ts";

/** A grant with its history. */
export interface GrantDetail extends Grant {
  readonly taskId: TaskId;
  readonly issuedWallMs: number;
  /** The operation that used it up; null for a grant that was not used up by one. */
  readonly usedBy: OperationId | null;
}

/** A message of the user that the task at work has not read yet. */
export interface QueuedMessage {
  readonly id: InterventionId;
  readonly text: string;
}

/** One page of a listing. `next` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export interface SessionSummary {
  readonly id: SessionId;
  readonly title: string;
  readonly createdWallMs: number;
  readonly tasks: number;
  readonly messages: number;
}

/**
 * `state` is what the journal says; `derived` is what a reader makes of it when nobody owns the
 * workspace any more (an unterminated attempt is interrupted). The next owner writes it down.
 */
export interface TaskSummary {
  readonly id: TaskId;
  readonly sessionId: SessionId;
  readonly goal: string;
  readonly state: TaskState;
  readonly reason: TaskReason | null;
  readonly derived: "interrupted" | null;
  readonly createdWallMs: number;
  readonly updatedWallMs: number;
}

export interface AttemptSummary {
  readonly id: AttemptId;
  readonly number: number;
  readonly state: AttemptState;
  readonly derived: "interrupted" | null;
  readonly traceId: string;
  readonly model: string;
  readonly startedWallMs: number;
  readonly endedWallMs: number | null;
}

export interface OperationDetail {
  readonly id: OperationId;
  readonly attemptId: AttemptId;
  readonly callId: string;
  readonly tool: string;
  readonly scope: OperationScope;
  readonly state: OperationState;
  readonly derived: OperationState | null;
  /** Null while it has none. `interrupted` also stands for an unknown outcome that was settled. */
  readonly outcome: "ok" | "error" | "interrupted" | null;
  readonly summary: string;
  readonly exitCode: number | null;
  /** Content of the file before, and after if it happened; null where there is none to tell. */
  readonly before: Digest | "absent" | null;
  readonly after: Digest | "absent" | null;
  readonly preImage: ArtifactId | null;
  readonly artifacts: readonly ArtifactId[];
  /** Processes that were seen alive when it was over, or by the next owner after a crash. */
  readonly left: LeftProcesses;
}

/** The newest output of an operation, sanitised. */
export interface OutputTail {
  readonly text: string;
  /** UTF-16 units before it that are no longer there. */
  readonly droppedUnits: number;
  readonly running: boolean;
}

export interface TaskDetail extends TaskSummary {
  readonly limits: BudgetLimits;
  readonly consumption: Consumption;
  readonly verification: readonly string[];
  readonly yolo: boolean;
  readonly attempts: readonly AttemptSummary[];
  readonly operationCounts: Readonly<Record<OperationState, number>>;
  readonly grants: readonly Grant[];
  readonly artifacts: readonly Artifact[];
  readonly baseline: Baseline | null;
  readonly result: TaskResult | null;
}
