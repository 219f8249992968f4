import { workerModule } from "../worker_module.ts";
import type { WorkspaceError } from "../../core/errors.ts";
import { err, type Result } from "../../core/result.ts";
import { findLibcPath } from "../linux/libc.ts";
import type { ReplyMessage, RequestMessage } from "./_messages.ts";
import type { WorkspaceFiles, WorkspaceReplies, WorkspaceRequest } from "./protocol.ts";

/** Requests that may wait for the worker; a task makes them one at a time. */
export const MAX_PENDING_REQUESTS = 64;
/**
 * Longest time without any answer while requests wait. Every operation bounds itself far below this;
 * what takes longer is a worker that is gone without a word or stuck in the kernel (a dead network
 * mount). Counted from the latest answer, so that a full queue of slow searches is not a death.
 */
export const REQUEST_TIMEOUT_MS = 60_000;

export interface WorkspaceWorkerOptions {
  /** Default `MAX_PENDING_REQUESTS`. */
  readonly maxPending?: number;
  /** Milliseconds. Default `REQUEST_TIMEOUT_MS`. */
  readonly requestTimeoutMs?: number;
  /** The worker's module. Default: the one beside this file. */
  readonly module?: URL;
}

/** A running worker. Closing it answers what is pending with `worker_lost`. */
export interface WorkspaceWorker extends WorkspaceFiles, AsyncDisposable {
  /** Ends the worker. Idempotent. */
  close(): void;
}

/**
 * Starts the worker that does all file access of the tools. It starts at once and loads in the
 * background; send `open` first. When it dies, every pending and later call is answered with
 * `worker_lost`, and the caller may start another.
 */
export function startWorkspaceWorker(options: WorkspaceWorkerOptions = {}): WorkspaceWorker {
  return new Client(options);
}

type AnyResult = Result<WorkspaceReplies[WorkspaceRequest["type"]], WorkspaceError>;

class Client implements WorkspaceWorker {
  readonly #worker: Worker | null;
  readonly #pending = new Map<number, (result: AnyResult) => void>();
  readonly #maxPending: number;
  readonly #requestTimeoutMs: number;
  #nextId = 1;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  /** Why there is no worker any more; null while there is one. */
  #lost: WorkspaceError | null = null;

  constructor(options: WorkspaceWorkerOptions) {
    this.#maxPending = options.maxPending ?? MAX_PENDING_REQUESTS;
    this.#requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const libcPath = findLibcPath();
    if (libcPath === null) {
      this.#worker = null;
      this.#lost = workspaceError(
        "unsupported_kernel",
        "No C library was found where this process may open one",
      );
      return;
    }
    this.#worker = spawn(
      options.module ?? workerModule("workspace_worker", import.meta.url),
      libcPath,
    );
    this.#worker.onmessage = (event: MessageEvent<ReplyMessage>) => this.#settle(event.data);
    this.#worker.onmessageerror = () => this.#lose("Its answer could not be read");
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#lose(event.message);
    };
  }

  call<T extends WorkspaceRequest["type"]>(
    request: Extract<WorkspaceRequest, { type: T }>,
  ): Promise<Result<WorkspaceReplies[T], WorkspaceError>> {
    if (this.#lost !== null) return Promise.resolve(err(this.#lost));
    if (this.#pending.size >= this.#maxPending) {
      const detail = `${this.#maxPending} requests are waiting for the workspace worker`;
      return Promise.resolve(err(workspaceError("io", detail)));
    }
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<AnyResult>();
    this.#pending.set(id, resolve);
    if (this.#pending.size === 1) this.#watch();
    this.#worker?.postMessage({ id, request } satisfies RequestMessage);
    // The worker answers a request of type T with the reply of type T.
    return promise as Promise<Result<WorkspaceReplies[T], WorkspaceError>>;
  }

  close(): void {
    this.#lose("The workspace worker was closed");
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  #settle(reply: ReplyMessage): void {
    const resolve = this.#pending.get(reply.id);
    if (resolve === undefined) return;
    this.#pending.delete(reply.id);
    this.#watch();
    resolve(reply.result);
  }

  /** Starts the wait for the next answer anew, or ends it when none is due. */
  #watch(): void {
    clearTimeout(this.#watchdog);
    if (this.#pending.size === 0) return;
    this.#watchdog = setTimeout(
      () => this.#lose(`No answer within ${this.#requestTimeoutMs} ms`),
      this.#requestTimeoutMs,
    );
  }

  #lose(detail: string): void {
    if (this.#lost !== null) return;
    this.#lost = workspaceError("worker_lost", detail);
    this.#worker?.terminate();
    clearTimeout(this.#watchdog);
    for (const resolve of this.#pending.values()) resolve(err(this.#lost));
    this.#pending.clear();
  }
}

function workspaceError(reason: WorkspaceError["reason"], detail: string): WorkspaceError {
  return { type: "workspace", reason, path: "", detail };
}

function spawn(module: URL, libcPath: string): Worker {
  return new Worker(module, {
    type: "module",
    name: "workspace",
    deno: {
      permissions: {
        ffi: [libcPath],
        read: false,
        write: false,
        net: false,
        env: false,
        run: false,
        sys: false,
        import: false,
      },
    },
  });
}
