import type { FluzoError } from "../../core/errors.ts";
import { parseId, type TaskId } from "../../core/ids.ts";
import type { Query, QueryReplies } from "../../core/port/application.ts";
import type { TaskDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { answerQuery } from "../../runtime/application/queries.ts";
import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { openStore, type Store } from "../../runtime/storage/client.ts";
import { isOwned } from "../../runtime/workspace/ownership.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import { locate } from "../composition.ts";

/** The journal of a workspace, for looking only. */
export interface Inspection extends AsyncDisposable {
  query<T extends Query["type"]>(
    query: Extract<Query, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>>;
}

/**
 * Opens the journal read-only, whether or not another Fluzo works here. What this process does not
 * need for that is given up first.
 */
export async function openInspection(flags: ParsedFlags): Promise<Result<Inspection, FluzoError>> {
  for (const name of ["net", "run", "ffi"] as const) Deno.permissions.revokeSync({ name });
  const location = await locate(flags);
  if (!location.ok) return location;
  const directory = `${location.value.root}/${DATA_DIRECTORY}`;
  const opening = openStore({ directory, mode: "read", ownerAlive: () => isOwned(directory) });
  const store: Result<Store, FluzoError> = await opening.opened;
  if (!store.ok) return store;
  return ok({
    query: (query) =>
      answerQuery({
        reader: store.value,
        queued: () => [],
        output: () => null,
        commandStatus: () => ({ state: "unknown" }),
      }, query),
    [Symbol.asyncDispose]: () => opening.close(),
  });
}

/** One task and the journal it is in. */
export interface TaskInspection {
  readonly journal: Inspection;
  readonly taskId: TaskId;
  readonly task: TaskDetail;
}

/** Opens the journal and finds the task that the first argument names. */
export async function inspectTask(
  { positionals, flags }: CommandInput,
): Promise<Result<TaskInspection, FluzoError>> {
  const name = positionals[0] ?? "";
  const taskId = parseId("task", name);
  if (taskId === null) return err({ type: "not_found", what: "task", id: name });
  const journal = await openInspection(flags);
  if (!journal.ok) return journal;
  const task = await journal.value.query({ type: "show_task", taskId });
  if (task.ok) return ok({ journal: journal.value, taskId, task: task.value });
  await journal.value[Symbol.asyncDispose]();
  return task;
}
