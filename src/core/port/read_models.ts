import type { BudgetLimits, Consumption } from "../budget/budget.ts";
import type { Digest } from "../digest.ts";
import type { Artifact, Baseline, SessionContents, TaskResult } from "../events/event.ts";
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

/** A session with what it takes up. */
export interface SessionHistory {
  readonly id: SessionId;
  readonly title: string;
  readonly createdWallMs: number;
  readonly contents: SessionContents;
}

/** What deleting a session would come to. */
export interface PurgePreview {
  readonly contents: SessionContents;
  /** Why it cannot be deleted now; null when it can. */
  readonly kept: { readonly taskId: TaskId; readonly because: "at_work" | "processes" } | null;
}

/** What the data directory takes up, in bytes where nothing else is said. */
export interface StorageUse {
  /** The database and its write-ahead log. */
  readonly journalBytes: number;
  readonly artifactBytes: number;
  /** Files of deleted sessions that could not be removed yet. */
  readonly waiting: FileCount;
}

/** Files in the data directory that the journal does not need. */
export interface Leftovers {
  /** Among the artifacts, but in no record: what a kill left between a file and its record. */
  readonly unrecorded: FileCount;
  /** Whole journals from before a migration; they hold what was deleted since, too. */
  readonly backups: FileCount;
}
export interface FileCount {
  readonly files: number;
  readonly bytes: number;
}

/** What became of the files of deleted sessions. */
export interface RemovedFiles {
  readonly removed: number;
  /** Files that are still there; the next start tries again. */
  readonly left: number;
  /** Why the first of them is still there; null when none is. */
  readonly problem: string | null;
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
  /** The first process of a command; null where none was recorded. Never signalled by its number. */
  readonly pid: number | null;
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
