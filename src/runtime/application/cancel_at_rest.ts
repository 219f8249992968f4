import { type FluzoError, FluzoFailure } from "../../core/errors.ts";
import type { DomainEvent, TaskResult } from "../../core/events/event.ts";
import type { Command, StopReply } from "../../core/port/application.ts";
import type { OperationDetail, TaskDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { TaskJournal } from "../execution/task_journal.ts";
import type { JournalReader } from "../storage/journal.ts";
import { waitingOperations } from "./queries.ts";

type StopTask = Extract<Command, { type: "cancel_task" | "kill_task" }>;

/** What deciding about tasks at rest works with. */
export interface RestServices {
  readonly reader: JournalReader;
  /** Writes events about tasks at rest, which belong to no open attempt. */
  readonly resting: TaskJournal;
}

/**
 * Cancels a task that does not run: what waited for an answer is not asked any more, grants end,
 * and its result says so. A task that is over stays as it is; so does one whose cancellation could
 * not be recorded.
 */
export async function cancelAtRest(
  { reader, resting }: RestServices,
  { taskId, by }: StopTask,
): Promise<Result<StopReply, FluzoError>> {
  const found = await reader.task(taskId);
  if (!found.ok) return found;
  const task = found.value;
  if (task === null) return err({ type: "not_found", what: "task", id: taskId });
  switch (task.state) {
    case "completed":
    case "failed":
    case "cancelled":
      return ok({ taskId, state: task.state, changed: false });
    case "pending":
    case "ready":
    case "blocked": {
      const waiting = await waitingOperations(reader, taskId);
      if (!waiting.ok) return waiting;
      try {
        await resting.append(cancellation(task, { by, waiting: waiting.value }));
      } catch (failure) {
        if (failure instanceof FluzoFailure) return err(failure.error);
        throw failure;
      }
      return ok({ taskId, state: "cancelled", changed: true });
    }
    case "running":
    case "waiting":
    case "stopping":
      // Its end could not be recorded: only the next owner may say what became of it.
      return err({
        type: "wrong_state",
        taskId,
        action: "cancel",
        state: `${task.state}, but nothing runs it any more`,
        remedy: "End this Fluzo; the next one writes down what became of the task",
      });
  }
}

function cancellation(
  task: TaskDetail,
  { by, waiting }: {
    readonly by: StopTask["by"];
    readonly waiting: readonly OperationDetail[];
  },
): readonly DomainEvent[] {
  const { id: taskId, state } = task;
  const moved = { type: "task_moved", taskId, reason: null } as const;
  return [
    { type: "cancel_requested", taskId, by },
    ...waiting.map((operation): DomainEvent => ({
      type: "operation_cancelled",
      operationId: operation.id,
      reason: "cancelled",
    })),
    ...task.grants.filter((grant) => grant.state === "active").map((grant): DomainEvent => ({
      type: "grant_ended",
      grantId: grant.id,
      state: "expired",
    })),
    ...(state === "blocked"
      ? [
        { ...moved, from: "blocked", to: "stopping" },
        { ...moved, from: "stopping", to: "cancelled" },
      ] as const
      : [{ ...moved, from: state, to: "cancelled" }] as const),
    { type: "task_ended", taskId, result: cancelledResult(task, by) },
  ];
}

/** What was seen when the task came to rest stays true; only how it ended is new. */
function cancelledResult(task: TaskDetail, by: StopTask["by"]): TaskResult {
  const cancelled = { status: "cancelled", error: { type: "cancelled", by } } as const;
  if (task.result !== null) return { ...task.result, ...cancelled };
  return {
    ...cancelled,
    verification: task.verification.length === 0 ? "not_configured" : "not_run",
    answer: "",
    changes: [],
    preExisting: [],
    denials: [],
    consumption: task.consumption,
    diff: null,
    uncertainties: ["what it changed was not looked at: its process ended before that"],
  };
}
