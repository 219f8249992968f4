import type { FluzoError } from "../../core/errors.ts";
import type { OperationId, SessionId, TaskId } from "../../core/ids.ts";
import { parseId } from "../../core/ids.ts";
import type { Query, QueryReplies } from "../../core/port/application.ts";
import type { OperationDetail, Page, TaskSummary } from "../../core/port/read_models.ts";
import { ok, type Result } from "../../core/result.ts";

/** Entries of one page: a fraction of a millisecond of the store's time. */
export const PAGE = 100;

/** Whoever answers queries. */
export interface QuerySource {
  query<T extends Query["type"]>(
    query: Extract<Query, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>>;
}

/** Asks for one page of a listing; null asks for the first. */
export type AskPage<T> = (cursor: string | null) => Promise<Result<Page<T>, FluzoError>>;

/** The pages of a listing, one after the other; an error is the last of them. */
export async function* pages<T>(ask: AskPage<T>): AsyncGenerator<Result<Page<T>, FluzoError>> {
  let cursor: string | null = null;
  do {
    const page: Result<Page<T>, FluzoError> = await ask(cursor);
    yield page;
    cursor = page.ok ? page.value.next : null;
  } while (cursor !== null);
}

/** The first page of a listing, or all of them. */
export async function readPages<T>(
  ask: AskPage<T>,
  { all }: { readonly all: boolean },
): Promise<Result<{ readonly items: readonly T[]; readonly more: boolean }, FluzoError>> {
  const items: T[] = [];
  for await (const page of pages(ask)) {
    if (!page.ok) return page;
    items.push(...page.value.items);
    if (!all) return ok({ items, more: page.value.next !== null });
  }
  return ok({ items, more: false });
}

type ListOperations = Extract<Query, { type: "list_operations" }>;

/** Every operation of a task, in the order they were requested. */
export async function readOperations(
  source: { query(query: ListOperations): Promise<Result<Page<OperationDetail>, FluzoError>> },
  taskId: TaskId,
): Promise<Result<readonly OperationDetail[], FluzoError>> {
  const read = await readPages((cursor) => {
    const after: OperationId | null = cursor === null ? null : parseId("operation", cursor);
    return source.query({ type: "list_operations", taskId, after, limit: PAGE });
  }, { all: true });
  return read.ok ? ok(read.value.items) : read;
}

/** Every task of a session, newest first. */
export async function readTasksOf(
  source: QuerySource,
  sessionId: SessionId,
): Promise<Result<readonly TaskSummary[], FluzoError>> {
  const read = await readPages(
    (cursor) => source.query({ type: "list_tasks", cursor, limit: PAGE }),
    { all: true },
  );
  return read.ok ? ok(read.value.items.filter((task) => task.sessionId === sessionId)) : read;
}
