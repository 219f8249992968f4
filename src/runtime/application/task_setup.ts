import type { BudgetLimits } from "../../core/budget/budget.ts";
import type { Digest } from "../../core/digest.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { Baseline, DomainEvent } from "../../core/events/event.ts";
import type {
  AttemptId,
  IdSource,
  InstanceId,
  SessionId,
  SnapshotId,
  TaskId,
} from "../../core/ids.ts";
import type { OnAsk } from "../../core/port/application.ts";
import type { Result } from "../../core/result.ts";
import type { AttemptPlan, AttemptServices } from "../execution/attempt.ts";
import type { ResultEffects } from "../execution/result.ts";
import type { StorageRoom } from "../storage/storage_room.ts";

/** What the user decides about an attempt; null leaves it to the configuration. */
export interface PlanRequest {
  readonly model: string | null;
  readonly onAsk: OnAsk;
  readonly yolo: boolean;
  readonly verification: readonly string[] | null;
  readonly limits: BudgetLimits | null;
}

/** What the task service gets from the host. */
export interface TaskSetup {
  /** Settings, consent and credentials, resolved for one attempt; an error starts nothing. */
  plan(
    request: PlanRequest,
    ids: {
      readonly taskId: TaskId;
      readonly sessionId: SessionId;
      readonly attemptId: AttemptId;
    },
  ): Result<AttemptPlan, FluzoError>;
  /**
   * A look at the workspace before anything is done to it.
   *
   * @param look.touched Paths the user allows to be changed although they hold changes.
   * @param look.detail Whether an untracked folder is one entry, or every file in it.
   */
  baseline(look: {
    readonly touched: readonly string[];
    readonly detail: "folders" | "files";
  }): Promise<Result<Baseline, FluzoError>>;
  /**
   * Services of one attempt; its tools know what the user had changed.
   *
   * @param own Paths that hold what an earlier attempt of the task wrote.
   */
  services(baseline: Baseline, own: ReadonlySet<string>): AttemptServices;
  snapshot(): Promise<{
    readonly id: SnapshotId;
    readonly fingerprint: Digest;
    readonly settings: unknown;
  }>;
  /** Whether there is room for the records of a task. */
  readonly room: Pick<StorageRoom, "forTask">;
  readonly effects: ResultEffects;
  readonly ids: IdSource;
  readonly instanceId: InstanceId;
  readonly workspace: Extract<DomainEvent, { type: "workspace_recorded" }>;
  /** Told which task works now, or that none does, for whoever is refused meanwhile. */
  readonly onTask: (taskId: TaskId | null) => void;
}
