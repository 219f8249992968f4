import type { Conversation } from "../context/conversation.ts";
import type { AgentsFiles } from "../context/agents_files.ts";
import type { ProviderGateway } from "../providers/gateway.ts";
import type { ModelEndpoint } from "../providers/provider.ts";
import type { JournalReader, JournalWriter } from "../storage/journal.ts";
import type { StorageRoom } from "../storage/storage_room.ts";
import type { ToolEffects } from "../tools/effects.ts";
import type { UpdateHub } from "../application/update_hub.ts";
import type { BudgetLimits, Consumption } from "../../core/budget/budget.ts";
import { consume } from "../../core/budget/budget.ts";
import type { Clock, Timers } from "../../core/clock.ts";
import type { CancelledError, FluzoError } from "../../core/errors.ts";
import type { Baseline, Denial } from "../../core/events/event.ts";
import type {
  ArtifactId,
  AttemptId,
  IdSource,
  OperationId,
  SessionId,
  TaskId,
} from "../../core/ids.ts";
import type { TaskReason, TaskState } from "../../core/lifecycle/task.ts";
import type { OnAsk } from "../../core/port/application.ts";
import type { PolicySettings } from "../../core/policy/decide.ts";
import type { Grant } from "../../core/policy/grant.ts";
import type { GrantRequest } from "../../core/policy/grant_request.ts";
import type { Redactor } from "../../core/text/redactor.ts";
import type { SpanContext, Telemetry } from "../../core/telemetry/telemetry.ts";
import { ApprovalDesk } from "./approval_desk.ts";
import { Interventions } from "./interventions.ts";
import type { LiveOutputs } from "./live_output.ts";
import type { TaskJournal } from "./task_journal.ts";

/** What is fixed for an attempt: the effective settings and what the user asked for. */
export interface AttemptPlan {
  readonly sessionId: SessionId;
  readonly taskId: TaskId;
  readonly attemptId: AttemptId;
  readonly onAsk: OnAsk;
  /** At the beginning; the user may change it while the task runs (`Attempt.yolo`). */
  readonly yolo: boolean;
  /** Argument vector; empty when nothing verifies the task. */
  readonly verification: readonly string[];
  readonly endpoint: ModelEndpoint;
  readonly capacityId: string;
  readonly pool: string;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly maxRetries: number;
  /** At the beginning; the user may extend them while the task runs (`Attempt.limits`). */
  readonly limits: BudgetLimits;
  readonly policy: PolicySettings;
  /** Commands the consented configuration lists as allowed, exactly as written. */
  readonly standingGrants: readonly GrantRequest[];
}

/** What an attempt works with. */
export interface AttemptServices {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: IdSource;
  readonly telemetry: Telemetry;
  readonly writer: JournalWriter;
  readonly reader: JournalReader;
  /** Whether what is about to be done can still be recorded. */
  readonly room: Pick<StorageRoom, "forOperation">;
  readonly updates: UpdateHub;
  readonly outputs: LiveOutputs;
  readonly gateway: ProviderGateway;
  readonly effects: ToolEffects;
  readonly redactor: Redactor;
  /** Starts what the tools will need; called while the model is at work. */
  readonly warmUp: () => void;
}

/** Why an attempt stops. */
export type Ending =
  | { readonly type: "completed" }
  | { readonly type: "blocked"; readonly reason: TaskReason; readonly error: FluzoError }
  | { readonly type: "failed"; readonly error: FluzoError }
  | { readonly type: "cancelled"; readonly by: CancelledError["by"] };

/** A file as it was before the attempt's first own change of it. */
export type FirstVersion =
  | { readonly type: "absent" }
  | { readonly type: "kept"; readonly artifact: ArtifactId }
  /** Not kept, because the content holds a secret. */
  | { readonly type: "withheld" };

/** One running attempt: its plan, its services and what changes while it runs. */
export class Attempt {
  readonly plan: AttemptPlan;
  readonly services: AttemptServices;
  readonly journal: TaskJournal;
  readonly conversation: Conversation;
  readonly agents: AgentsFiles;
  readonly baseline: Baseline;
  readonly span: SpanContext;
  readonly cancel: CancelSignal;
  readonly approvals = new ApprovalDesk();
  readonly interventions = new Interventions();
  /** Grants as the journal has them; one that ended is replaced by its new state. */
  readonly grants: Grant[];
  limits: BudgetLimits;
  yolo: boolean;
  /** What the journal says of the task while the attempt is open. */
  taskState: Extract<TaskState, "running" | "waiting"> = "running";
  readonly denials: Denial[] = [];
  /** Paths that Fluzo's own file tools changed, with what was there before. */
  readonly firstVersions = new Map<string, FirstVersion>();
  readonly uncertainties: string[] = [];
  /** Operations that were over while processes of theirs still ran. */
  readonly leftBy = new Set<OperationId>();
  /** The operation that is being performed, until its outcome is recorded. */
  inFlight: { readonly operationId: OperationId; readonly callId: string } | null = null;
  /** Moved on by every wait for the user: what is behind it was active. */
  #startMs: number;
  #consumption: Consumption;

  constructor(parts: {
    readonly plan: AttemptPlan;
    readonly services: AttemptServices;
    readonly journal: TaskJournal;
    readonly conversation: Conversation;
    readonly agents: AgentsFiles;
    readonly baseline: Baseline;
    readonly span: SpanContext;
    readonly cancel: CancelSignal;
    readonly grants: readonly Grant[];
    readonly consumption: Consumption;
    /** What earlier attempts of the task changed; their first versions count. */
    readonly firstVersions: ReadonlyMap<string, FirstVersion>;
  }) {
    this.plan = parts.plan;
    this.services = parts.services;
    this.journal = parts.journal;
    this.conversation = parts.conversation;
    this.agents = parts.agents;
    this.baseline = parts.baseline;
    this.span = parts.span;
    this.cancel = parts.cancel;
    this.grants = [...parts.grants];
    this.limits = parts.plan.limits;
    this.yolo = parts.plan.yolo;
    for (const [path, first] of parts.firstVersions) this.firstVersions.set(path, first);
    this.#consumption = parts.consumption;
    this.#startMs = parts.services.clock.monotonicMs() - parts.consumption.activeMs;
  }

  /** What the task has consumed by now, its active time included. */
  get consumption(): Consumption {
    return {
      ...this.#consumption,
      activeMs: this.services.clock.monotonicMs() - this.#startMs,
    };
  }

  /** Counts what was used; the caller commits the new total. */
  consume(used: Partial<Omit<Consumption, "activeMs">>): void {
    this.#consumption = consume(this.#consumption, used);
  }

  /** Waits for the user: the time of it is not active time. */
  async pauseFor<T>(wait: Promise<T>): Promise<T> {
    const { clock } = this.services;
    const fromMs = clock.monotonicMs();
    try {
      return await wait;
    } finally {
      this.#startMs += clock.monotonicMs() - fromMs;
    }
  }

  /** Notes the new state of a grant that the journal has. */
  endGrant(id: Grant["id"], state: Grant["state"]): void {
    const index = this.grants.findIndex((grant) => grant.id === id);
    const grant = this.grants[index];
    if (grant !== undefined) this.grants[index] = { ...grant, state };
  }

  /** Notes a refusal for the result. */
  deny(denial: Denial): void {
    this.denials.push(denial);
  }
}

/**
 * The one cancel token of an attempt: checked before each dispatch, and who pulled it is kept. It
 * has two levels. `cancel` asks what runs to end and gives it its grace; `force` cuts the grace
 * short. Force includes cancel.
 */
export class CancelSignal {
  readonly #cancelled = new AbortController();
  readonly #forced = new AbortController();
  #by: CancelledError["by"] | null = null;

  /** Aborted by `cancel` and by `force`. */
  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  /** Aborted by `force` alone. */
  get forced(): AbortSignal {
    return this.#forced.signal;
  }

  /** Who cancelled first; null while nobody has. */
  get by(): CancelledError["by"] | null {
    return this.#by;
  }

  /** Cancels. Repeating it changes nothing. */
  cancel(by: CancelledError["by"]): void {
    if (this.#by !== null) return;
    this.#by = by;
    this.#cancelled.abort();
  }

  /** Cancels and ends by force what runs. Repeating it changes nothing. */
  force(by: CancelledError["by"]): void {
    this.cancel(by);
    this.#forced.abort();
  }
}
