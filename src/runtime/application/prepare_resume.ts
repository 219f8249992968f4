import type { FluzoError, StorageError } from "../../core/errors.ts";
import type { Baseline, Denial } from "../../core/events/event.ts";
import type { TaskId } from "../../core/ids.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import type { Command } from "../../core/port/application.ts";
import type { GrantDetail, OperationDetail, TaskDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type AttemptServices, CancelSignal } from "../execution/attempt.ts";
import { type OwnChanges, ownChanges } from "../execution/own_changes.ts";
import type { TaskResume } from "../execution/resume_attempt.ts";
import { resumeDifferences, type ResumeView } from "../execution/resume_differences.ts";
import { digestsOf } from "../execution/workspace_observer.ts";
import type { JournalReader } from "../storage/journal.ts";
import { readSession } from "./read_session.ts";
import type { TaskSetup } from "./task_setup.ts";

/** Rows of one page of a task's operations or grants. */
const PAGE_ROWS = 500;

type ResumeTask = Extract<Command, { type: "resume_task" }>;

/**
 * Looks at everything a resume depends on, and writes nothing: the task must be blocked, every
 * unknown outcome decided, and what differs in the workspace known.
 */
export async function prepareResume(
  command: ResumeTask,
  { setup, reader }: { readonly setup: TaskSetup; readonly reader: JournalReader },
): Promise<
  Result<{ readonly resume: TaskResume; readonly services: AttemptServices }, FluzoError>
> {
  const { taskId } = command;
  const task = await reader.task(taskId);
  if (!task.ok) return task;
  if (task.value === null) return err({ type: "not_found", what: "task", id: taskId });
  const refused = checkState(task.value);
  if (refused !== null) return err(refused);
  const operations = await allOperations(reader, taskId);
  if (!operations.ok) return operations;
  const settled = decide(command, operations.value);
  if (!settled.ok) return settled;
  const session = await readSession(reader, task.value.sessionId);
  if (!session.ok) return session;
  const answered = retriedButAnswered(settled.value, session.value.openCalls);
  if (answered !== null) return err(answered);
  const issued = await allGrants(reader, taskId);
  if (!issued.ok) return issued;
  const plan = setup.plan({
    ...command,
    verification: task.value.verification,
    limits: task.value.limits,
  }, {
    taskId,
    sessionId: task.value.sessionId,
    attemptId: setup.ids.next("attempt"),
  });
  if (!plan.ok) return plan;
  const touched = command.grants.flatMap((grant) => grant.type === "touch" ? [grant.path] : []);
  const seen = await setup.baseline({ touched, detail: "files" });
  if (!seen.ok) return seen;
  const own = ownChanges(operations.value);
  const ownFiles = await lookAtOwn(own, setup);
  const untouched = ownFiles.filter(({ left, now }) => now !== null && left.includes(now));
  const ownPaths = new Set(untouched.map(({ path }) => path));
  const baseline = withoutOwn(seen.value, { ownPaths, earlier: task.value.baseline });
  return ok({
    services: setup.services(baseline, ownPaths),
    resume: {
      plan: plan.value,
      grants: command.grants,
      baseline,
      cancel: new CancelSignal(),
      instanceId: setup.instanceId,
      snapshot: await setup.snapshot(),
      task: task.value,
      ...session.value,
      own,
      issued: issued.value,
      settled: settled.value,
      denials: earlierDenials(task.value, operations.value),
      differences: resumeDifferences({ before: task.value.baseline, now: baseline, ownFiles }),
    },
  });
}

/** A task is judged as a whole: what was denied before it was blocked, or by the answer, counts. */
function earlierDenials(
  { result }: TaskDetail,
  operations: readonly OperationDetail[],
): readonly Denial[] {
  const denied = operations.filter(({ state }) => state === "denied").map((
    { id, tool, scope, summary },
  ): Denial => ({
    kind: "permission",
    operationId: id,
    tool,
    scope: describeScope(scope),
    reason: summary,
    flag: "",
  }));
  return [...result?.denials.filter(({ kind }) => kind === "confinement") ?? [], ...denied];
}

function checkState(task: TaskDetail): FluzoError | null {
  if (task.state === "blocked") return null;
  return {
    type: "wrong_state",
    taskId: task.id,
    action: "resume",
    state: task.state,
    remedy: "Only a blocked task goes on; `fluzo run --continue` begins a new one in its session",
  };
}

/** Every unknown outcome needs the user's decision, and nothing else may be decided. */
function decide(
  { decisions, taskId }: ResumeTask,
  operations: readonly OperationDetail[],
): Result<TaskResume["settled"], FluzoError> {
  const unknown = operations.filter(({ state }) => state === "unknown");
  const stray = decisions.find(({ operationId }) => !unknown.some(({ id }) => id === operationId));
  if (stray !== undefined) {
    return err({
      type: "stale_answer",
      operationId: stray.operationId,
      detail: `it is no operation of task ${taskId} whose outcome is unknown`,
    });
  }
  const open = unknown.filter(({ id }) => !decisions.some(({ operationId }) => operationId === id));
  if (open.length > 0) {
    return err({
      type: "unknown_outcome",
      operations: open.map(({ id, scope }) => ({ id, scope: describeScope(scope) })),
    });
  }
  return ok(unknown.flatMap((operation) => {
    const found = decisions.find(({ operationId }) => operationId === operation.id);
    return found === undefined ? [] : [{ operation, decision: found.decision }];
  }));
}

/** A call that has a result cannot be made again for the model: it has to ask itself. */
function retriedButAnswered(
  settled: TaskResume["settled"],
  openCalls: TaskResume["openCalls"],
): FluzoError | null {
  const found = settled.find(({ operation, decision }) =>
    decision === "retry" && !openCalls.some((open) => open.operation?.id === operation.id)
  );
  return found === undefined ? null : {
    type: "stale_answer",
    operationId: found.operation.id,
    detail: "its call has a result already; accept it and say what you want in a new request",
  };
}

async function lookAtOwn(
  { lastVersions }: OwnChanges,
  setup: TaskSetup,
): Promise<ResumeView["ownFiles"]> {
  const paths = [...lastVersions.keys()];
  const digests = await digestsOf(setup.effects.files, paths);
  return paths.map((path, index) => ({
    path,
    left: lastVersions.get(path) ?? [],
    now: digests[index] ?? null,
  }));
}

/** What the task itself wrote and nobody touched since is no change of the user. */
function withoutOwn(
  baseline: Baseline,
  { ownPaths, earlier }: {
    readonly ownPaths: ReadonlySet<string>;
    readonly earlier: Baseline | null;
  },
): Baseline {
  const preExisting = new Set(earlier?.entries.map(({ path }) => path));
  return {
    ...baseline,
    entries: baseline.entries.filter(({ path }) => !ownPaths.has(path) || preExisting.has(path)),
  };
}

async function allOperations(
  reader: JournalReader,
  taskId: TaskId,
): Promise<Result<readonly OperationDetail[], StorageError>> {
  const found: OperationDetail[] = [];
  for (let after: OperationDetail["id"] | null = null;;) {
    const page = await reader.operations(taskId, { after, limit: PAGE_ROWS });
    if (!page.ok) return page;
    found.push(...page.value.items);
    after = page.value.items.at(-1)?.id ?? null;
    if (page.value.next === null || after === null) return ok(found);
  }
}

async function allGrants(
  reader: JournalReader,
  taskId: TaskId,
): Promise<Result<readonly GrantDetail[], StorageError>> {
  const found: GrantDetail[] = [];
  for (let cursor: string | null = null;;) {
    const page = await reader.grants(taskId, { cursor, limit: PAGE_ROWS });
    if (!page.ok) return page;
    found.push(...page.value.items);
    cursor = page.value.next;
    if (cursor === null) return ok(found);
  }
}
