import type { BudgetLimits, Consumption } from "../budget/budget.ts";
import type { AnswerEnd, Message } from "../conversation/message.ts";
import type { Digest } from "../digest.ts";
import type { CancelledError, FluzoError } from "../errors.ts";
import type {
  ArtifactId,
  AttemptId,
  GrantId,
  InstanceId,
  InterventionId,
  MessageId,
  OperationId,
  RequestId,
  SessionId,
  SnapshotId,
  TaskId,
  WorkspaceId,
} from "../ids.ts";
import type { LeftProcesses } from "../left_processes.ts";
import type { AttemptOutcome } from "../lifecycle/attempt.ts";
import type { TaskReason, TaskState } from "../lifecycle/task.ts";
import type { Evidence } from "../policy/decide.ts";
import type { Grant } from "../policy/grant.ts";
import type { OperationScope } from "../policy/scope.ts";
import type { Usage } from "../usage.ts";

/**
 * Everything the journal records. An event is the only way state changes: the store applies it to
 * its tables and appends it in one transaction, so the two cannot disagree. Contents of messages
 * travel in `message_recorded` and are kept beside the event row, not in it.
 */
export type DomainEvent =
  // Workspace, sessions and tasks
  | {
    readonly type: "workspace_recorded";
    readonly workspaceId: WorkspaceId;
    /** Resolved absolute path of the root; with the next three the identity of the workspace. */
    readonly root: string;
    readonly device: string;
    readonly inode: string;
    readonly birthTimeMs: string;
  }
  | { readonly type: "session_created"; readonly sessionId: SessionId; readonly title: string }
  | {
    readonly type: "task_created";
    readonly taskId: TaskId;
    readonly sessionId: SessionId;
    readonly goal: string;
    readonly limits: BudgetLimits;
    /** Argument vector of the verification command; empty when none is configured. */
    readonly verification: readonly string[];
    readonly yolo: boolean;
  }
  | {
    readonly type: "task_moved";
    readonly taskId: TaskId;
    readonly from: TaskState;
    readonly to: TaskState;
    readonly reason: TaskReason | null;
  }
  | {
    readonly type: "task_ended";
    readonly taskId: TaskId;
    readonly result: TaskResult;
  }
  | {
    readonly type: "budget_consumed";
    readonly taskId: TaskId;
    /** The new total, not an increment: applying it twice changes nothing. */
    readonly consumption: Consumption;
  }
  /** The user gave the task more. The new totals, never below the old ones. */
  | { readonly type: "limits_extended"; readonly taskId: TaskId; readonly limits: BudgetLimits }
  /** The user's explicit act for what follows in this task; never a stored default. */
  | { readonly type: "yolo_set"; readonly taskId: TaskId; readonly on: boolean }
  // Messages of the user to a task at work, in order until the next safe boundary
  | {
    readonly type: "intervention_queued";
    readonly taskId: TaskId;
    readonly interventionId: InterventionId;
    readonly text: string;
  }
  | {
    readonly type: "intervention_edited";
    readonly taskId: TaskId;
    readonly interventionId: InterventionId;
    readonly text: string;
  }
  | {
    readonly type: "intervention_removed";
    readonly taskId: TaskId;
    readonly interventionId: InterventionId;
  }
  | {
    readonly type: "intervention_consumed";
    readonly taskId: TaskId;
    readonly interventionId: InterventionId;
    /** The message it became. */
    readonly messageId: MessageId;
  }
  // Attempts and what they began from
  | {
    readonly type: "attempt_started";
    readonly attemptId: AttemptId;
    readonly taskId: TaskId;
    readonly number: number;
    readonly traceId: string;
    /** Trace of the attempt this one goes on from; null for the first. */
    readonly previousTraceId: string | null;
    readonly instanceId: InstanceId;
    readonly snapshotId: SnapshotId;
    readonly model: string;
  }
  | {
    readonly type: "attempt_ended";
    readonly attemptId: AttemptId;
    readonly outcome: AttemptOutcome;
    readonly error: FluzoError | null;
  }
  | {
    readonly type: "config_recorded";
    readonly snapshotId: SnapshotId;
    readonly fingerprint: Digest;
    /** The effective settings, secrets never among them. */
    readonly settings: unknown;
  }
  | {
    readonly type: "baseline_recorded";
    readonly attemptId: AttemptId;
    readonly baseline: Baseline;
  }
  // Conversation
  | {
    readonly type: "message_recorded";
    readonly messageId: MessageId;
    readonly sessionId: SessionId;
    readonly taskId: TaskId;
    readonly message: Message;
  }
  | {
    readonly type: "message_started";
    readonly messageId: MessageId;
    readonly sessionId: SessionId;
    readonly taskId: TaskId;
    readonly requestId: RequestId;
  }
  /** A bounded batch of streamed text, appended to the message at `offset` UTF-16 units. */
  | {
    readonly type: "message_checkpointed";
    readonly messageId: MessageId;
    readonly offset: number;
    readonly text: string;
  }
  | {
    readonly type: "message_completed";
    readonly messageId: MessageId;
    readonly message: Message;
    readonly end: AnswerEnd;
  }
  // Provider requests
  | {
    readonly type: "request_reserved";
    readonly requestId: RequestId;
    readonly attemptId: AttemptId;
    readonly purpose: "agent_turn" | "capability_probe";
    readonly model: string;
    readonly origin: string;
    readonly capacityId: string;
    readonly pool: string;
    /** 0 for the first physical request of a turn, then one more for each retry. */
    readonly retry: number;
    readonly estimatedInputTokens: number;
  }
  | {
    readonly type: "request_dispatched";
    readonly requestId: RequestId;
    readonly bodyBytes: number;
  }
  | {
    readonly type: "request_ended";
    readonly requestId: RequestId;
    readonly outcome: "complete" | "cancelled_before_dispatch" | "uncertain";
    readonly usage: Usage;
    readonly rawFinish: string | null;
    readonly error: FluzoError | null;
  }
  // Operations
  | {
    readonly type: "operation_requested";
    readonly operationId: OperationId;
    readonly attemptId: AttemptId;
    readonly callId: string;
    readonly tool: string;
    readonly scope: OperationScope;
  }
  | {
    readonly type: "operation_authorized";
    readonly operationId: OperationId;
    readonly evidence: readonly Evidence[];
  }
  | {
    readonly type: "operation_denied";
    readonly operationId: OperationId;
    readonly evidence: readonly Evidence[];
    readonly reason: string;
  }
  | {
    readonly type: "operation_intended";
    readonly operationId: OperationId;
    /** The one-time grant used up in the same transaction. */
    readonly consumes: GrantId | null;
    /** Bytes as they were, for a change that loses them. */
    readonly preImage: ArtifactId | null;
    /** Digest the file has before, and has after if the operation happens; null where unknown. */
    readonly before: Digest | "absent" | null;
    readonly after: Digest | "absent" | null;
  }
  | { readonly type: "operation_dispatched"; readonly operationId: OperationId }
  | {
    readonly type: "process_started";
    readonly operationId: OperationId;
    readonly pid: number;
    /** With the next one it tells the process from a later one that gets its number. */
    readonly startTicks: string;
    readonly bootId: string;
  }
  /**
   * Processes of an operation that were seen alive when it was over, when the runtime was closed, or
   * by the next owner after a crash. Replaces what was named before; nothing named: all are gone.
   */
  | {
    readonly type: "processes_left";
    readonly operationId: OperationId;
    readonly left: LeftProcesses;
  }
  | {
    readonly type: "operation_finished";
    readonly operationId: OperationId;
    readonly outcome: "ok" | "error" | "interrupted";
    /** One line for people: what happened, with exit code or error reason. */
    readonly summary: string;
    readonly artifacts: readonly ArtifactId[];
    readonly exitCode: number | null;
  }
  | {
    readonly type: "operation_unknown";
    readonly operationId: OperationId;
    readonly detail: string;
  }
  /** The user's decision on an unknown outcome. `retried`: the call is made again, as a new one. */
  | {
    readonly type: "operation_settled";
    readonly operationId: OperationId;
    readonly decision: "accepted" | "retried";
  }
  | {
    readonly type: "operation_cancelled";
    readonly operationId: OperationId;
    readonly reason: "cancelled" | "invalidated";
  }
  // Grants
  | { readonly type: "grant_issued"; readonly taskId: TaskId; readonly grant: Grant }
  | {
    readonly type: "grant_ended";
    readonly grantId: GrantId;
    readonly state: "revoked" | "expired";
  }
  // Artifacts, verification, signals
  | { readonly type: "artifact_recorded"; readonly artifact: Artifact }
  | {
    readonly type: "verification_ended";
    readonly taskId: TaskId;
    readonly round: number;
    readonly passed: boolean;
    readonly operationId: OperationId;
  }
  | {
    readonly type: "cancel_requested";
    readonly taskId: TaskId;
    readonly by: CancelledError["by"];
  }
  /**
   * The user deleted a session with all that belongs to it, events included. What was deleted is
   * counted here; a number that is not right refuses the event.
   */
  | {
    readonly type: "history_purged";
    readonly sessionId: SessionId;
    readonly contents: SessionContents;
  }
  /** What still runs is to be killed, without the grace that a cancellation gives. */
  | {
    readonly type: "force_stop_requested";
    readonly taskId: TaskId;
    readonly by: CancelledError["by"];
  };

/** What a session holds, as it is shown before it is deleted. */
export interface SessionContents {
  readonly tasks: number;
  readonly messages: number;
  readonly events: number;
  /** UTF-8 bytes of all messages. */
  readonly textBytes: number;
  /** Artifacts that nothing outside of the session refers to. */
  readonly artifacts: number;
  readonly artifactBytes: number;
}

/** A private blob in the data directory; its id is opaque and never a path. */
export interface Artifact {
  readonly id: ArtifactId;
  readonly kind: "pre_image" | "process_output" | "diff";
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Bytes the source had beyond what was kept; 0 when all was kept. */
  readonly droppedBytes: number;
}

/** What the workspace held before the attempt. */
export interface Baseline {
  readonly git: "none" | "unborn" | "commits";
  readonly head: string | null;
  readonly branch: string | null;
  readonly entries: readonly BaselineEntry[];
  /** True when there were more entries than the bound; those are unknown, not clean. */
  readonly truncated: boolean;
}

/** One path that already differed from the last commit. */
export interface BaselineEntry {
  readonly path: string;
  readonly change: "staged" | "modified" | "untracked" | "conflicted";
  /** Content at the start; null for what is not a readable regular file. */
  readonly digest: Digest | "absent" | null;
}

/** How a task ended, for every surface: the CLI prints it, the journal keeps it. */
export interface TaskResult {
  readonly status:
    | "completed"
    | "blocked"
    | "failed"
    | "cancelled";
  readonly verification: "passed" | "failed" | "not_configured" | "not_run";
  /** The model's last words. */
  readonly answer: string;
  readonly error: FluzoError | null;
  readonly changes: readonly ObservedChange[];
  /** What the user had changed before, and what happened to it. */
  readonly preExisting: readonly PreExistingChange[];
  readonly denials: readonly Denial[];
  readonly consumption: Consumption;
  readonly diff: ArtifactId | null;
  /** What cannot be known for sure, one line each. */
  readonly uncertainties: readonly string[];
}

export interface ObservedChange {
  readonly path: string;
  readonly change: "created" | "modified" | "deleted";
  /** `tool`: written by Fluzo's file tools. `observed`: appeared while the task ran. */
  readonly by: "tool" | "observed";
}
export interface PreExistingChange {
  readonly path: string;
  readonly change: BaselineEntry["change"];
  readonly now: "unchanged" | "changed" | "unknown";
}
export interface Denial {
  /** `permission`: the policy or a missing grant. `confinement`: a path no grant can open. */
  readonly kind: "permission" | "confinement";
  readonly operationId: OperationId;
  readonly tool: string;
  readonly scope: string;
  readonly reason: string;
  /** The flag that would allow it; empty when nothing would. */
  readonly flag: string;
}
