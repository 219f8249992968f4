import type { StorageError } from "../../core/errors.ts";
import { err, type Result } from "../../core/result.ts";
import type { NumberedReply, NumberedRequest, StoreReplies, StoreRequest } from "./protocol.ts";
import { storageError, toStorageError } from "./storage_failure.ts";

/**
 * Most requests under way. One turn has a handful; a screen that pages adds a few. More means that
 * the worker does not keep up, and the caller must learn it instead of filling memory.
 */
export const MAX_QUEUED_REQUESTS = 256;

/** Most bytes under way: two of the largest artifacts and what goes on beside them. */
export const MAX_QUEUED_BYTES = 72 * 1024 * 1024;

/**
 * How long an answer may take, in milliseconds. A statement waits at most `BUSY_TIMEOUT_MS` for a
 * lock, so a worker that is silent this long is gone, whether or not anybody was told.
 */
const ANSWER_TIMEOUT_MS = 30_000;

interface Pending {
  readonly bytes: number;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly resolve: (result: Result<never, StorageError>) => void;
}

/** What a connection needs of a worker. */
export interface StoreWorker extends EventTarget {
  postMessage(message: NumberedRequest): void;
  terminate(): void;
}

/**
 * Requests and answers of one worker. A call always ends: with its answer, with `queue_full` at
 * once, or with `worker_lost` for everything under way and everything after when the worker dies.
 * An append that ends in `worker_lost` may have been committed: the journal says so at the next
 * start.
 */
export class StoreConnection {
  readonly #worker: StoreWorker;
  readonly #path: string;
  readonly #answerTimeoutMs: number;
  readonly #pending = new Map<number, Pending>();
  #pendingBytes = 0;
  #nextId = 1;
  #lost: StorageError | null = null;
  #closing: Promise<void> | null = null;

  /**
   * @param path Where the store is, for error texts.
   * @param options.answerTimeoutMs Default `ANSWER_TIMEOUT_MS`.
   */
  constructor(
    worker: StoreWorker,
    path: string,
    options: { readonly answerTimeoutMs?: number } = {},
  ) {
    this.#worker = worker;
    this.#path = path;
    this.#answerTimeoutMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    worker.addEventListener("message", (event) => {
      if (event instanceof MessageEvent) this.#settle(event.data);
    });
    worker.addEventListener("error", (event) => {
      // Handled here: unhandled, it would end the process.
      event.preventDefault();
      const words = event instanceof ErrorEvent ? event.message : "it ended";
      this.#lose(`The store worker failed: ${words}`);
    });
    worker.addEventListener("messageerror", () => {
      this.#lose("The store worker sent what cannot be read");
    });
  }

  /** Sends a request; resolves with its answer, never rejects for a failure of the store. */
  call<T extends StoreRequest["type"]>(
    request: Extract<StoreRequest, { type: T }>,
  ): Promise<Result<StoreReplies[T], StorageError>> {
    if (this.#lost !== null) return Promise.resolve(err(this.#lost));
    if (this.#closing !== null) return Promise.resolve(err(this.#closed()));
    return this.#send(request);
  }

  /** Lets what is under way finish, closes the database, ends the worker. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    if (this.#lost !== null) return;
    await this.#send({ type: "close" });
    if (this.#lost === null) this.#lost = this.#closed();
    this.#worker.terminate();
  }

  #send<T extends StoreRequest["type"]>(
    request: Extract<StoreRequest, { type: T }>,
  ): Promise<Result<StoreReplies[T], StorageError>> {
    const bytes = sizeOf(request);
    const full = this.#pending.size >= MAX_QUEUED_REQUESTS ||
      this.#pendingBytes + bytes > MAX_QUEUED_BYTES;
    if (full && request.type !== "close") {
      return Promise.resolve(err(storageError(
        "queue_full",
        this.#path,
        `${this.#pending.size} requests with ${this.#pendingBytes} bytes wait for the store`,
      )));
    }
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#lose(`The store worker gave no answer for ${this.#answerTimeoutMs} ms`);
      }, this.#answerTimeoutMs);
      this.#pending.set(id, { bytes, timer, resolve });
      this.#pendingBytes += bytes;
      try {
        this.#worker.postMessage({ id, request });
      } catch (thrown) {
        this.#settle({ id, result: err(toStorageError(thrown, this.#path)) });
      }
    });
  }

  #settle({ id, result }: NumberedReply): void {
    const waiting = this.#pending.get(id);
    if (waiting === undefined) return;
    this.#pending.delete(id);
    this.#pendingBytes -= waiting.bytes;
    clearTimeout(waiting.timer);
    // The worker answers a request with a value of its type: `StoreReplies` is one map for both.
    waiting.resolve(result as Result<never, StorageError>);
  }

  #lose(detail: string): void {
    if (this.#lost !== null) return;
    const lost = storageError("worker_lost", this.#path, detail);
    this.#lost = lost;
    this.#worker.terminate();
    for (const id of [...this.#pending.keys()]) this.#settle({ id, result: err(lost) });
  }

  #closed(): StorageError {
    return storageError("worker_lost", this.#path, "The store is closed");
  }
}

/** Bytes a request carries. A UTF-16 unit counts as two: that is what the copy costs at most. */
function sizeOf(request: StoreRequest): number {
  switch (request.type) {
    case "append":
      return request.drafts.length * 2;
    case "put_artifact":
      return request.bytes.length;
    case "open":
    case "tasks":
    case "task":
    case "operations":
    case "call_operations":
    case "operation":
    case "grants":
    case "sessions":
    case "messages":
    case "message_page":
    case "events":
    case "artifact":
    case "unfinished":
    case "use":
    case "history":
    case "purge_preview":
    case "remove_purged":
    case "leftovers":
    case "compact":
    case "close":
      return 0;
  }
}
