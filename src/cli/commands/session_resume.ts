import type { FluzoError } from "../../core/errors.ts";
import { parseId, type SessionId, type TaskId } from "../../core/ids.ts";
import type { ApplicationPort, UnknownDecision } from "../../core/port/application.ts";
import type { Page, TaskSummary } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { operationIdFrom } from "./_answering.ts";
import {
  type BeginTask,
  notStarted,
  type OpenRuntime,
  openRuntime,
  readGrants,
  runToEnd,
} from "./_task_runner.ts";

/** Tasks looked at in one page to find the one of a session that waits. */
const PAGE_TASKS = 100;

/** `fluzo session resume ID`: goes on with a blocked task in a new attempt. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const prepared = await prepare(input);
  return prepared.ok
    ? await runToEnd(context, prepared.value)
    : await notStarted(context, prepared.error);
}

async function prepare(
  { positionals, flags }: CommandInput,
): Promise<Result<{ readonly runtime: OpenRuntime; readonly command: BeginTask }, FluzoError>> {
  const grants = readGrants(flags);
  if (!grants.ok) return grants;
  const decisions = readDecisions(flags);
  if (!decisions.ok) return decisions;
  const named = readTarget(positionals[0] ?? "");
  if (!named.ok) return named;
  const runtime = await openRuntime(flags);
  if (!runtime.ok) return runtime;
  const { host } = runtime.value;
  const task = await findTask(host.port, named.value);
  if (!task.ok) {
    await host.shutdown("user");
    return task;
  }
  return ok({
    runtime: runtime.value,
    command: {
      type: "resume_task",
      commandId: randomIds(systemClock).next("command"),
      taskId: task.value,
      model: flags.text("model"),
      grants: grants.value,
      onAsk: flags.text("on-ask") === "deny" ? "deny" : "block",
      yolo: flags.has("yolo"),
      decisions: decisions.value,
    },
  });
}

type Target =
  | { readonly type: "task"; readonly id: TaskId }
  | { readonly type: "session"; readonly id: SessionId };

function readTarget(text: string): Result<Target, FluzoError> {
  const task = parseId("task", text);
  if (task !== null) return ok({ type: "task", id: task });
  const session = parseId("session", text);
  return session === null
    ? err({ type: "not_found", what: "session", id: text })
    : ok({ type: "session", id: session });
}

/** The task that is meant: itself, or the newest one of the session that is blocked. */
async function findTask(
  port: ApplicationPort,
  target: Target,
): Promise<Result<TaskId, FluzoError>> {
  if (target.type === "task") return ok(target.id);
  let known = false;
  for (let cursor: string | null = null;;) {
    const page: Result<Page<TaskSummary>, FluzoError> = await port.query({
      type: "list_tasks",
      cursor,
      limit: PAGE_TASKS,
    });
    if (!page.ok) return page;
    const own = page.value.items.filter(({ sessionId }) => sessionId === target.id);
    known ||= own.length > 0;
    const blocked = own.find(({ state }) => state === "blocked");
    if (blocked !== undefined) return ok(blocked.id);
    cursor = page.value.next;
    if (cursor !== null) continue;
    return known
      ? err({
        type: "usage",
        message: `No task of session ${target.id} is blocked`,
        hint: "`fluzo run --continue` begins a new task in the newest session",
      })
      : err({ type: "not_found", what: "session", id: target.id });
  }
}

function readDecisions(flags: ParsedFlags): Result<readonly UnknownDecision[], FluzoError> {
  const decisions: UnknownDecision[] = [];
  for (
    const [flag, decision] of [["accept-unknown", "accept"], ["retry-unknown", "retry"]] as const
  ) {
    for (const text of flags.texts(flag)) {
      const operationId = operationIdFrom(text);
      if (!operationId.ok) return operationId;
      decisions.push({ operationId: operationId.value, decision });
    }
  }
  const twice = decisions.find(({ operationId }, index) =>
    decisions.findIndex((other) => other.operationId === operationId) !== index
  );
  return twice === undefined ? ok(decisions) : err({
    type: "usage",
    message: `Operation ${twice.operationId} is decided twice`,
    hint: "Give each one to --accept-unknown or to --retry-unknown",
  });
}
