import type { FluzoError } from "../../core/errors.ts";
import { FluzoFailure } from "../../core/errors.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { GrantId, OperationId, TaskId } from "../../core/ids.ts";
import type { Grant } from "../../core/policy/grant.ts";
import { approvalKey } from "../../core/policy/scope.ts";
import type { Command, CommandReplies } from "../../core/port/application.ts";
import type { OperationDetail, TaskDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Attempt } from "../execution/attempt.ts";
import type { TaskJournal } from "../execution/task_journal.ts";
import type { JournalReader } from "../storage/journal.ts";
import type { IdSource } from "../../core/ids.ts";

type Approve = Extract<Command, { type: "approve_operation" }>;
type Deny = Extract<Command, { type: "deny_operation" }>;
type Revoke = Extract<Command, { type: "revoke_grant" }>;
type Reply<T extends Command["type"]> = Result<CommandReplies[T], FluzoError>;

/** What answering works with. */
export interface AnswerServices {
  readonly reader: JournalReader;
  readonly ids: IdSource;
  /** Writes events about tasks at rest, which belong to no open attempt. */
  readonly resting: TaskJournal;
  /** The open attempt of a task, or null when it does not run here and now. */
  attemptOf(taskId: TaskId): Attempt | null;
}

/**
 * The user's answers about permissions. Each waiting operation is answered once, and only as the
 * scope that was shown: what has changed since, or was answered before, is refused.
 */
export class TaskAnswers {
  readonly #services: AnswerServices;

  constructor(services: AnswerServices) {
    this.#services = services;
  }

  /** Allows one waiting operation, once. The grant is durable when this returns. */
  async approve(command: Approve): Promise<Reply<"approve_operation">> {
    const { operationId, seen } = command;
    const found = await this.#find(command);
    if (!found.ok) return found;
    const { task, operation } = found.value;
    const grant: Grant = {
      id: this.#services.ids.next("grant"),
      key: approvalKey(operation.scope),
      covers: "exact",
      source: "approval",
      lifetime: "once",
      state: "active",
    };
    const event: DomainEvent = { type: "grant_issued", taskId: task.id, grant };
    const attempt = this.#services.attemptOf(task.id);
    if (attempt === null) {
      const before = task.grants.some((other) =>
        other.state === "active" && other.source === "approval" && other.key === grant.key
      );
      if (before) return stale(operationId, "it is approved already");
      return await commit(this.#services.resting, [event], { taskId: task.id, grantId: grant.id });
    }
    const waiting = attempt.approvals.take(operationId, seen);
    if (typeof waiting === "string") return notTaken(operationId, waiting);
    const reply = await commit(attempt.journal, [event], { taskId: task.id, grantId: grant.id });
    if (!reply.ok) {
      // Nothing was granted: the question was taken, so it ends here as a refusal.
      waiting.answer({ type: "denied", reason: "the permission could not be recorded" });
      return reply;
    }
    attempt.grants.push(grant);
    waiting.answer({ type: "approved" });
    return reply;
  }

  /** Refuses one waiting operation. The model of a running task is told at once. */
  async deny(command: Deny): Promise<Reply<"deny_operation">> {
    const { operationId, seen, reason } = command;
    const found = await this.#find(command);
    if (!found.ok) return found;
    const { task, operation } = found.value;
    const attempt = this.#services.attemptOf(task.id);
    if (attempt !== null) {
      const waiting = attempt.approvals.take(operationId, seen);
      if (typeof waiting === "string") return notTaken(operationId, waiting);
      waiting.answer({ type: "denied", reason });
      return ok({ taskId: task.id });
    }
    const words = reason === "" ? "the user said no" : `the user said: ${reason}`;
    return await commit(this.#services.resting, [
      {
        type: "operation_denied",
        operationId,
        evidence: [{ type: "answer", decision: "deny" }],
        reason: words,
      },
      ...unusedAnswers(task, operation),
      {
        type: "message_recorded",
        messageId: this.#services.ids.next("message"),
        sessionId: task.sessionId,
        taskId: task.id,
        message: {
          role: "tool",
          callId: operation.callId,
          name: operation.tool,
          text: `Denied: ${words}. Do not try it in another form.`,
          outcome: "denied",
        },
      },
    ], { taskId: task.id });
  }

  /** Takes a grant back. What it allowed before stays done. */
  async revoke({ grantId }: Revoke): Promise<Reply<"revoke_grant">> {
    const found = await this.#findGrant(grantId);
    if (!found.ok) return found;
    const { taskId, state } = found.value;
    if (state !== "active") {
      return err({
        type: "wrong_state",
        taskId,
        action: `revoke grant ${grantId} of`,
        state: `over with it (${state})`,
        remedy: "`fluzo grants list` shows which grants are active",
      });
    }
    const attempt = this.#services.attemptOf(taskId);
    // Before the commit: no decision from now on may use it.
    attempt?.endGrant(grantId, "revoked");
    return await commit(attempt?.journal ?? this.#services.resting, [
      { type: "grant_ended", grantId, state: "revoked" },
    ], { taskId });
  }

  async #find({ operationId, seen }: Pick<Approve, "operationId" | "seen">): Promise<
    Result<{ readonly task: TaskDetail; readonly operation: OperationDetail }, FluzoError>
  > {
    const { reader } = this.#services;
    const found = await reader.operation(operationId);
    if (!found.ok) return found;
    if (found.value === null) {
      return err({ type: "not_found", what: "operation", id: operationId });
    }
    const { operation, taskId } = found.value;
    if (operation.state !== "requested") {
      return stale(operationId, `it does not wait for an answer: it is ${operation.state}`);
    }
    if (approvalKey(operation.scope) !== seen) return notTaken(operationId, "changed");
    const task = await reader.task(taskId);
    if (!task.ok) return task;
    return task.value === null
      ? err({ type: "not_found", what: "task", id: taskId })
      : ok({ task: task.value, operation });
  }

  async #findGrant(
    id: GrantId,
  ): Promise<
    Result<{ readonly taskId: TaskId; readonly state: Grant["state"] }, FluzoError>
  > {
    for (let cursor: string | null = null;;) {
      const page = await this.#services.reader.grants(null, { cursor, limit: 200 });
      if (!page.ok) return page;
      const grant = page.value.items.find((candidate) => candidate.id === id);
      if (grant !== undefined) return ok(grant);
      cursor = page.value.next;
      if (cursor === null) return err({ type: "not_found", what: "grant", id });
    }
  }
}

/** A yes that a later no replaces. */
function unusedAnswers({ grants }: TaskDetail, { scope }: OperationDetail): DomainEvent[] {
  const key = approvalKey(scope);
  return grants
    .filter((grant) => grant.state === "active" && grant.source === "approval" && grant.key === key)
    .map(({ id }) => ({ type: "grant_ended", grantId: id, state: "revoked" }));
}

async function commit<T>(
  journal: TaskJournal,
  events: readonly DomainEvent[],
  reply: T,
): Promise<Result<T, FluzoError>> {
  try {
    await journal.append(events);
    return ok(reply);
  } catch (failure) {
    if (failure instanceof FluzoFailure) return err(failure.error);
    throw failure;
  }
}

function notTaken(
  operationId: OperationId,
  why: "not_waiting" | "changed",
): Result<never, FluzoError> {
  return stale(
    operationId,
    why === "changed"
      ? "it is not what was shown any more"
      : "it was answered already, or the task went on without it",
  );
}

function stale(operationId: OperationId, detail: string): Result<never, FluzoError> {
  return err({ type: "stale_answer", operationId, detail });
}
