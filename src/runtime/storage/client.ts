import { workerModule } from "../worker_module.ts";
import type { FluzoError, StorageError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/envelope.ts";
import type { Artifact } from "../../core/events/event.ts";
import type { ArtifactId, OperationId, SessionId, TaskId } from "../../core/ids.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { LinuxError } from "../linux/errno.ts";
import { availableBytes } from "../linux/file_system.ts";
import {
  type DataDirectory,
  inspectDataDirectory,
  prepareDataDirectory,
} from "./data_directory.ts";
import type { Cursor, JournalCleaner, JournalReader, JournalWriter } from "./journal.ts";
import type { StoreMode, StoreReplies } from "./protocol.ts";
import { storageError, toStorageError } from "./storage_failure.ts";
import { StoreConnection } from "./store_connection.ts";
import { copyDatabase, type PrivateCopy } from "./private_copy.ts";
import { storeWorkerPermissions } from "./store_permissions.ts";

/** The open journal. A store in mode `read` answers every write with a `StorageError`. */
export interface Store extends JournalWriter, JournalReader, JournalCleaner {
  /**
   * True when the folder cannot be written, or the journal is of an older version, so that a private
   * copy is read instead: what is told is the state at the opening, and surfaces say so.
   */
  readonly copied: boolean;
  /** Closes the database and ends the worker; later calls answer `worker_lost`. Idempotent. */
  close(): Promise<void>;
}

/** A store that boots while the caller does something else. */
export interface OpeningStore {
  /** Never rejects. */
  readonly opened: Promise<Result<Store, StorageError>>;
  /** Ends the worker, also before it is open. Idempotent. */
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  /** Absolute path of `.fluzodrive`, its parents resolved. */
  readonly directory: string;
  readonly mode: StoreMode;
  /**
   * Whether some process owns the workspace now (by its kernel lock). Asked at every query whose
   * answer depends on it.
   */
  readonly ownerAlive: () => boolean | Promise<boolean>;
  /**
   * What must be settled before anything on the disk is touched; the worker boots meanwhile. An
   * error refuses the opening.
   */
  readonly permitted?: Promise<Result<unknown, FluzoError>>;
}

/**
 * Starts the store worker, then checks the data directory and opens the journal; returns at once.
 * The worker touches nothing before that check. In mode `write` missing parts are made; in mode
 * `read` nothing is, and without a database everything reads as empty.
 */
export function openStore(options: OpenStoreOptions): OpeningStore {
  const { directory } = options;
  let connection: StoreConnection;
  try {
    connection = new StoreConnection(startWorker(directory, null), directory);
  } catch (thrown) {
    return refused(toStorageError(thrown, directory));
  }
  const result = permitAndOpen(connection, options);
  return {
    opened: result,
    close: async () => {
      await connection.close();
      // A copy may have been opened in the meantime, by a worker of its own.
      const store = await result;
      if (store.ok) await store.value.close();
    },
  };
}

async function permitAndOpen(
  connection: StoreConnection,
  options: OpenStoreOptions,
): Promise<Result<Store, StorageError>> {
  const { directory, mode } = options;
  const permitted = await options.permitted;
  if (permitted !== undefined && !permitted.ok) {
    await connection.close();
    return err(storageError("busy", directory, "It was not to be opened"));
  }
  const found = mode === "write"
    ? prepareDataDirectory(directory)
    : inspectDataDirectory(directory);
  if (!found.ok) {
    await connection.close();
    return found;
  }
  return await open(connection, { ...options, found: found.value });
}

async function open(
  connection: StoreConnection,
  options: OpenStoreOptions & { readonly found: DataDirectory },
): Promise<Result<Store, StorageError>> {
  const { mode, found, ownerAlive } = options;
  const { databasePath, artifactsPath } = found;
  const reply = await connection.call({
    type: "open",
    mode,
    databasePath,
    artifactsPath,
    availableBytes: mode === "write" ? spaceAt(artifactsPath) : null,
  });
  if (reply.ok) return ok(new WorkerStore(connection, { ownerAlive, copy: null }));
  await connection.close();
  const copyMayHelp = mode === "read" && databasePath !== null &&
    (reply.error.reason === "io" || reply.error.reason === "older_schema");
  return copyMayHelp ? openCopy(databasePath, options) : reply;
}

/** Free bytes of a file system; null where the kernel does not say. */
function spaceAt(path: string): number | null {
  try {
    return availableBytes(path);
  } catch (thrown) {
    if (thrown instanceof LinuxError) return null;
    throw thrown;
  }
}

/** Inspection of a database beside which nothing can be written, or which is of an older version. */
async function openCopy(
  databasePath: string,
  options: OpenStoreOptions & { readonly found: DataDirectory },
): Promise<Result<Store, StorageError>> {
  const copied = await copyDatabase(databasePath);
  if (!copied.ok) return copied;
  const opened = await openCopied(copied.value, options);
  if (opened.ok) return opened;
  await copied.value.remove();
  // The copy is gone: what is wrong with it is wrong with the original.
  return err({ ...opened.error, path: databasePath });
}

async function openCopied(
  copy: PrivateCopy,
  { directory, found, ownerAlive }: OpenStoreOptions & { readonly found: DataDirectory },
): Promise<Result<Store, StorageError>> {
  let connection: StoreConnection;
  try {
    connection = new StoreConnection(startWorker(directory, copy.directory), directory);
  } catch (thrown) {
    return err(toStorageError(thrown, directory));
  }
  const { databasePath } = copy;
  const { artifactsPath } = found;
  const reply = await connection.call({
    type: "open",
    mode: "copy",
    databasePath,
    artifactsPath,
    availableBytes: null,
  });
  if (reply.ok) return ok(new WorkerStore(connection, { ownerAlive, copy }));
  await connection.close();
  return reply;
}

function refused(error: StorageError): OpeningStore {
  return { opened: Promise.resolve(err(error)), close: () => Promise.resolve() };
}

function startWorker(directory: string, copy: string | null): Worker {
  return new Worker(workerModule("store_worker", import.meta.url), {
    type: "module",
    name: "store",
    deno: { permissions: storeWorkerPermissions(directory, copy) },
  });
}

class WorkerStore implements Store {
  readonly #connection: StoreConnection;
  readonly #ownerAlive: OpenStoreOptions["ownerAlive"];
  readonly #copy: PrivateCopy | null;
  readonly copied: boolean;

  constructor(
    connection: StoreConnection,
    { ownerAlive, copy }: {
      readonly ownerAlive: OpenStoreOptions["ownerAlive"];
      readonly copy: PrivateCopy | null;
    },
  ) {
    this.#connection = connection;
    this.#ownerAlive = ownerAlive;
    this.#copy = copy;
    this.copied = copy !== null;
  }

  append(drafts: readonly EventDraft[]): Promise<Result<StoreReplies["append"], StorageError>> {
    return this.#connection.call({ type: "append", drafts: JSON.stringify(drafts) });
  }

  putArtifact(
    artifact: Omit<Artifact, "digest" | "sizeBytes">,
    bytes: Uint8Array,
  ): Promise<Result<Artifact, StorageError>> {
    return this.#connection.call({ type: "put_artifact", artifact, bytes });
  }

  async tasks(cursor: Cursor, limit: number): Promise<Result<StoreReplies["tasks"], StorageError>> {
    const ownerAlive = await this.#ownerAlive();
    return this.#connection.call({ type: "tasks", cursor, limit, ownerAlive });
  }

  async task(id: TaskId): Promise<Result<StoreReplies["task"], StorageError>> {
    const ownerAlive = await this.#ownerAlive();
    return this.#connection.call({ type: "task", id, ownerAlive });
  }

  async operations(
    taskId: TaskId,
    { after, limit }: { readonly after: OperationId | null; readonly limit: number },
  ): Promise<Result<StoreReplies["operations"], StorageError>> {
    const ownerAlive = await this.#ownerAlive();
    return this.#connection.call({ type: "operations", taskId, after, limit, ownerAlive });
  }

  async callOperations(
    sessionId: SessionId,
    callIds: readonly string[],
  ): Promise<Result<StoreReplies["call_operations"], StorageError>> {
    const ownerAlive = await this.#ownerAlive();
    return this.#connection.call({ type: "call_operations", sessionId, callIds, ownerAlive });
  }

  async operation(id: OperationId): Promise<Result<StoreReplies["operation"], StorageError>> {
    const ownerAlive = await this.#ownerAlive();
    return this.#connection.call({ type: "operation", id, ownerAlive });
  }

  grants(
    taskId: TaskId | null,
    { cursor, limit }: { readonly cursor: Cursor; readonly limit: number },
  ): Promise<Result<StoreReplies["grants"], StorageError>> {
    return this.#connection.call({ type: "grants", taskId, cursor, limit });
  }

  sessions(cursor: Cursor, limit: number): Promise<Result<StoreReplies["sessions"], StorageError>> {
    return this.#connection.call({ type: "sessions", cursor, limit });
  }

  messages(
    sessionId: SessionId,
    maxBytes: number,
  ): Promise<Result<StoreReplies["messages"], StorageError>> {
    return this.#connection.call({ type: "messages", sessionId, maxBytes });
  }

  messagePage(
    sessionId: SessionId,
    { cursor, limit }: { readonly cursor: Cursor; readonly limit: number },
  ): Promise<Result<StoreReplies["message_page"], StorageError>> {
    return this.#connection.call({ type: "message_page", sessionId, cursor, limit });
  }

  events(
    taskId: TaskId,
    { afterSequence, limit }: { readonly afterSequence: number; readonly limit: number },
  ): Promise<Result<StoreReplies["events"], StorageError>> {
    return this.#connection.call({ type: "events", taskId, afterSequence, limit });
  }

  artifact(id: ArtifactId): Promise<Result<StoreReplies["artifact"], StorageError>> {
    return this.#connection.call({ type: "artifact", id });
  }

  unfinished(): Promise<Result<StoreReplies["unfinished"], StorageError>> {
    return this.#connection.call({ type: "unfinished" });
  }

  use(): Promise<Result<StoreReplies["use"], StorageError>> {
    return this.#connection.call({ type: "use" });
  }

  history(cursor: Cursor, limit: number): Promise<Result<StoreReplies["history"], StorageError>> {
    return this.#connection.call({ type: "history", cursor, limit });
  }

  purgePreview(
    sessionId: SessionId,
  ): Promise<Result<StoreReplies["purge_preview"], StorageError>> {
    return this.#connection.call({ type: "purge_preview", sessionId });
  }

  leftovers(): Promise<Result<StoreReplies["leftovers"], StorageError>> {
    return this.#connection.call({ type: "leftovers", remove: false });
  }

  removePurged(): Promise<Result<StoreReplies["remove_purged"], StorageError>> {
    return this.#connection.call({ type: "remove_purged" });
  }

  removeLeftovers(): Promise<Result<StoreReplies["leftovers"], StorageError>> {
    return this.#connection.call({ type: "leftovers", remove: true });
  }

  compact(): Promise<Result<StoreReplies["compact"], StorageError>> {
    return this.#connection.call({ type: "compact" });
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await this.#copy?.remove();
  }
}
