/**
 * The store worker: the only writer of the workspace's database, and one read-only connection for
 * pages. Promises:
 *
 * 1. Requests are taken in order and each gets exactly one answer.
 * 2. `append` is answered only after SQLite confirmed the commit; a refused batch leaves nothing.
 * 3. Nothing outside the data directory can be reached: see `storeWorkerPermissions`.
 * 4. In mode `read` no writing connection exists.
 *
 * Imports are static and few: a dynamic import would be checked against the worker's own
 * permissions, and the worker is on the way to the first request.
 */
import type { EventDraft } from "../../core/events/envelope.ts";
import { err, ok } from "../../core/result.ts";
import { applyBatch } from "./apply.ts";
import { readArtifact, writeArtifact } from "./artifacts.ts";
import { openEmpty, openReader, openWriter, upgradeCopy } from "./database.ts";
import type { Leftovers } from "../../core/port/read_models.ts";
import type { NumberedReply, NumberedRequest, StoreReplies, StoreRequest } from "./protocol.ts";
import { readEvents } from "./read_events.ts";
import { compact, handleLeftovers, readUse, removePurged } from "./history_files.ts";
import { readHistory, readPurgePreview } from "./read_history.ts";
import { readGrants } from "./read_grants.ts";
import { readMessagePage, readMessages } from "./read_messages.ts";
import { readCallOperations, readOperation, readOperations } from "./read_operations.ts";
import { readSessions, readTask, readTasks } from "./read_tasks.ts";
import { readUnfinished } from "./read_unfinished.ts";
import type { Statements } from "./statements.ts";
import { fail, toStorageError } from "./storage_failure.ts";

interface OpenDatabase {
  readonly writer: Statements | null;
  readonly reader: Statements;
  readonly databasePath: string | null;
  readonly artifactsPath: string;
}

const NO_FILES = { files: 0, bytes: 0 };

let opened: OpenDatabase | null = null;
/** Requests run one after another: hashing an artifact does not let a later one overtake. */
let turn: Promise<void> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<NumberedRequest>): void => {
  turn = turn.then(() => answer(data));
};

async function answer({ id, request }: NumberedRequest): Promise<void> {
  let reply: NumberedReply;
  try {
    const value = await handle(request);
    reply = { id, result: ok(value) };
  } catch (thrown) {
    reply = { id, result: err(toStorageError(thrown, pathOf(request))) };
  }
  self.postMessage(reply);
}

function handle(
  request: StoreRequest,
): StoreReplies[StoreRequest["type"]] | Promise<StoreReplies[StoreRequest["type"]]> {
  switch (request.type) {
    case "open":
      return open(request);
    case "append": {
      const drafts: readonly EventDraft[] = JSON.parse(request.drafts);
      return { lastSequence: applyBatch(writer(), drafts) };
    }
    case "put_artifact":
      writer();
      return writeArtifact(database().artifactsPath, request);
    case "tasks":
      return reading((reader) => readTasks(reader, request));
    case "task":
      return reading((reader) => readTask(reader, request));
    case "operations":
      return reading((reader) => readOperations(reader, request));
    case "call_operations":
      return reading((reader) => readCallOperations(reader, request));
    case "operation":
      return reading((reader) => readOperation(reader, request));
    case "grants":
      return reading((reader) => readGrants(reader, request));
    case "sessions":
      return reading((reader) => readSessions(reader, request));
    case "messages":
      return reading((reader) => readMessages(reader, request));
    case "message_page":
      return reading((reader) => readMessagePage(reader, request));
    case "events":
      return reading((reader) => readEvents(reader, request));
    case "artifact": {
      const { reader, artifactsPath } = database();
      return readArtifact(reader, { artifactsPath, id: request.id });
    }
    case "unfinished":
      return reading(readUnfinished);
    case "use":
      return reading(readUse);
    case "history":
      return reading((reader) => readHistory(reader, request));
    case "purge_preview":
      return reading((reader) => readPurgePreview(reader, request.sessionId));
    case "remove_purged":
      return removePurged(writer(), { artifactsPath: database().artifactsPath });
    case "leftovers":
      return leftovers(request.remove);
    case "compact":
      compact(writer());
      return null;
    case "close":
      return close();
  }
}

async function open(request: Extract<StoreRequest, { type: "open" }>): Promise<null> {
  const { mode, databasePath, artifactsPath, availableBytes } = request;
  if (databasePath === null) {
    opened = { writer: null, reader: openEmpty(), databasePath, artifactsPath };
    return null;
  }
  if (mode !== "write") {
    if (mode === "copy") upgradeCopy(databasePath);
    opened = { writer: null, reader: openReader(databasePath), databasePath, artifactsPath };
    return null;
  }
  const writing = await openWriter(databasePath, { availableBytes });
  try {
    opened = { writer: writing, reader: openReader(databasePath), databasePath, artifactsPath };
  } catch (thrown) {
    writing.close();
    throw thrown;
  }
  return null;
}

function leftovers(remove: boolean): Leftovers {
  const { databasePath, artifactsPath, reader } = database();
  if (databasePath === null) return { unrecorded: NO_FILES, backups: NO_FILES };
  return handleLeftovers(remove ? writer() : reader, { databasePath, artifactsPath, remove });
}

function close(): null {
  // The reader first: the last connection to close is the one that can fold the WAL back.
  opened?.reader.close();
  opened?.writer?.close();
  opened = null;
  return null;
}

/** One short read transaction, so that all of an answer is of one moment. */
function reading<T>(read: (reader: Statements) => T): T {
  const { reader } = database();
  return reader.transaction("BEGIN", () => read(reader));
}

function database(): OpenDatabase {
  return opened ?? fail("io", "", "The store is not open");
}

function writer(): Statements {
  const { writer: writing, reader } = database();
  return writing ?? fail("io", reader.path, "Cannot write: the store is open for inspection only");
}

function pathOf(request: StoreRequest): string {
  if (request.type === "open") return request.databasePath ?? "";
  return opened?.reader.path ?? "";
}
