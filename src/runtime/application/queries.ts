import type { FluzoError } from "../../core/errors.ts";
import type { CommandStatus, Query, QueryReplies } from "../../core/port/application.ts";
import type { CommandId, OperationId, TaskId } from "../../core/ids.ts";
import type { OperationDetail, OutputTail, QueuedMessage } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { JournalReader } from "../storage/journal.ts";

/** Entries one page may have. */
const MAX_PAGE = 200;

/** Content of one answer about a session, in bytes. */
const MAX_SESSION_BYTES = 4 << 20;

/** Where answers come from. */
export interface QuerySources {
  readonly reader: JournalReader;
  /** Messages that a task at work has not read yet; none where no task works. */
  queued(taskId: TaskId): readonly QueuedMessage[];
  /** What became of a command; `unknown` where no commands are carried out. */
  commandStatus(commandId: CommandId): CommandStatus;
  /** The newest output of an operation; null where none is kept. */
  output(operationId: OperationId): OutputTail | null;
}

/** Answers queries. It never executes anything. */
export async function answerQuery<T extends Query["type"]>(
  sources: QuerySources,
  query: Extract<Query, { type: T }>,
): Promise<Result<QueryReplies[T], FluzoError>> {
  // The switch gives each query its own reply; the compiler cannot see that through `T`.
  return await answer(sources, query) as Result<QueryReplies[T], FluzoError>;
}

async function answer(
  { reader, queued, commandStatus, output }: QuerySources,
  query: Query,
): Promise<Result<QueryReplies[Query["type"]], FluzoError>> {
  switch (query.type) {
    case "list_tasks":
      return await reader.tasks(query.cursor, bounded(query.limit));
    case "show_task": {
      const task = await reader.task(query.taskId);
      if (!task.ok) return task;
      return task.value === null
        ? err({ type: "not_found", what: "task", id: query.taskId })
        : ok(task.value);
    }
    case "list_operations":
      return await reader.operations(query.taskId, {
        after: query.after,
        limit: bounded(query.limit),
      });
    case "show_operation": {
      const found = await reader.operation(query.operationId);
      if (!found.ok) return found;
      return found.value === null
        ? err({ type: "not_found", what: "operation", id: query.operationId })
        : ok(found.value);
    }
    case "read_output": {
      const found = output(query.operationId);
      return found === null
        ? err({ type: "not_found", what: "operation", id: query.operationId })
        : ok(found);
    }
    case "list_approvals":
      return await waitingOperations(reader, query.taskId);
    case "list_grants":
      return await reader.grants(query.taskId, {
        cursor: query.cursor,
        limit: bounded(query.limit),
      });
    case "list_messages":
      return ok(queued(query.taskId));
    case "list_sessions":
      return await reader.sessions(query.cursor, bounded(query.limit));
    case "read_session": {
      const read = await reader.messages(
        query.sessionId,
        Math.min(query.maxBytes, MAX_SESSION_BYTES),
      );
      if (!read.ok) return read;
      return read.value.messages.length === 0
        ? err({ type: "not_found", what: "session", id: query.sessionId })
        : read;
    }
    case "page_session":
      return await reader.messagePage(query.sessionId, {
        cursor: query.cursor,
        limit: bounded(query.limit),
      });
    case "list_events":
      return await reader.events(query.taskId, {
        afterSequence: query.afterSequence,
        limit: bounded(query.limit),
      });
    case "list_history":
      return await reader.history(query.cursor, bounded(query.limit));
    case "preview_purge": {
      const preview = await reader.purgePreview(query.sessionId);
      if (!preview.ok) return preview;
      return preview.value === null
        ? err({ type: "not_found", what: "session", id: query.sessionId })
        : ok(preview.value);
    }
    case "show_storage":
      return await reader.use();
    case "find_leftovers":
      return await reader.leftovers();
    case "command_status":
      return ok(commandStatus(query.commandId));
    case "read_artifact": {
      const bytes = await reader.artifact(query.artifactId);
      if (!bytes.ok) return bytes;
      return bytes.value === null
        ? err({ type: "not_found", what: "artifact", id: query.artifactId })
        : ok({ text: new TextDecoder().decode(bytes.value) });
    }
  }
}

/** Operations that wait for an answer: those of a task at rest, and of one that waits. */
export async function waitingOperations(
  reader: JournalReader,
  taskId: TaskId,
): Promise<Result<readonly OperationDetail[], FluzoError>> {
  const waiting: OperationDetail[] = [];
  for (let after: OperationId | null = null;;) {
    const page = await reader.operations(taskId, { after, limit: MAX_PAGE });
    if (!page.ok) return page;
    const { items, next } = page.value;
    waiting.push(...items.filter(({ state }) => state === "requested"));
    after = items.at(-1)?.id ?? null;
    if (next === null || after === null) return ok(waiting);
  }
}

function bounded(limit: number): number {
  return Math.max(1, Math.min(MAX_PAGE, Math.floor(limit)));
}
