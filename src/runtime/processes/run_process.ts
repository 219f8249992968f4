import type { Clock, Timers } from "../../core/clock.ts";
import type { ProcessError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { Capture } from "./capture.ts";
import type { OperationId } from "../../core/ids.ts";
import type { LeftProcesses, ProcessIdentity } from "../../core/left_processes.ts";
import { OPERATION_VARIABLE } from "./owned_command.ts";
import type { OwnedProcesses } from "./owned_processes.ts";

/** Size of the one buffer each stream is read into, in bytes: a pipe's capacity. */
const READ_BYTES = 65_536;

/** How long output is still read once the direct child has ended, in milliseconds. */
const OUTPUT_GRACE_MS = 250;

/** How long a killed child may take until its end is seen, in milliseconds. */
const EXIT_WAIT_MS = 2000;

/** A program to start, with nothing left to decide. */
export interface ProcessRequest {
  /** The operation it belongs to: its environment and that of its descendants say so. */
  readonly operationId: OperationId;
  /** Absolute path. */
  readonly executable: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Output that is kept, of both streams together. */
  readonly captureBytes: number;
}

export interface ProcessOutcome {
  readonly exit:
    | { readonly type: "code"; readonly code: number }
    | { readonly type: "signal"; readonly signal: string }
    | { readonly type: "unknown" };
  readonly ended: "by_itself" | "timed_out" | "aborted";
  readonly stdout: string;
  readonly stderr: string;
  readonly droppedBytes: number;
  readonly durationMs: number;
  /** What was seen alive when the command was over. */
  readonly left: LeftProcesses;
  /** Somebody held the output open when it was over. */
  readonly outputHeld: boolean;
}

export interface ProcessEnvironment {
  readonly processes: OwnedProcesses;
  readonly timers: Timers;
  readonly clock: Clock;
}

/** What a command is started with, beside what it is. */
export interface ProcessControls extends ProcessEnvironment {
  /** Asks the command to end. */
  readonly signal: AbortSignal;
  /** Kills it: no grace, or the rest of it. */
  readonly force: AbortSignal;
  readonly onStarted: (process: ProcessIdentity) => void;
  /** Raw decoded output as it arrives, of both streams. */
  readonly onOutput: (text: string) => void;
}

/**
 * Runs a program in a session and process group of its own, without a terminal and with standard
 * input closed. Returns when the direct child has ended (and its output, or a short grace), when
 * the time is up, or on abort; in the last two cases everything it started is ended first. Output
 * beyond the cap is read and let go, so that no child waits on a full pipe.
 */
export async function runProcess(
  request: ProcessRequest,
  options: ProcessControls,
): Promise<Result<ProcessOutcome, ProcessError>> {
  const { timers, clock } = options;
  const startMs = clock.monotonicMs();
  const unable = options.processes.unable();
  if (unable !== null) return refused(request, { reason: "spawn_failed", detail: unable });
  // Cancelled while the program was looked for: nothing starts after that was acknowledged.
  if (options.signal.aborted) return refused(request, { reason: "cancelled", detail: "" });
  const started = options.processes.start(request.operationId, () => spawn(request));
  if (!started.ok) return started;
  const { child, command } = started.value;
  options.onStarted(command.identity);
  const stdout = new Drain(child.stdout, { maxBytes: request.captureBytes / 2, ...options });
  const stderr = new Drain(child.stderr, { maxBytes: request.captureBytes / 2, ...options });
  const ended = await firstOf(child, { timeoutMs: request.timeoutMs, ...options });
  const early = ended === "by_itself"
    ? null
    : await command.end({ graceMs: request.graceMs, force: options.force });
  const output = Promise.all([stdout.done, stderr.done]);
  const drained = await within(output, { ms: OUTPUT_GRACE_MS, timers });
  await Promise.all([stdout.close(), stderr.close()]);
  const status = await within(child.status, { ms: EXIT_WAIT_MS, timers });
  return ok({
    exit: exitOf(status),
    ended,
    stdout: stdout.text(),
    stderr: stderr.text(),
    droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
    durationMs: clock.monotonicMs() - startMs,
    left: early ?? await command.left(),
    outputHeld: drained === null,
  });
}

function spawn(request: ProcessRequest): Result<Deno.ChildProcess, ProcessError> {
  const refuse = (reason: ProcessError["reason"], detail: string) =>
    refused(request, { reason, detail });
  try {
    return ok(
      new Deno.Command(request.executable, {
        args: [...request.args],
        cwd: request.cwd,
        env: { ...request.env, [OPERATION_VARIABLE]: request.operationId },
        clearEnv: true,
        detached: true,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn(),
    );
  } catch (failure) {
    if (failure instanceof Deno.errors.NotCapable) return refuse("run_permission", "");
    if (failure instanceof Deno.errors.NotFound) {
      return refuse("executable_not_found", "the program, its interpreter or the folder is gone");
    }
    if (failure instanceof Deno.errors.PermissionDenied) return refuse("not_executable", "");
    if (failure instanceof TypeError) {
      return refuse("invalid_environment", "a NUL character cannot be passed on");
    }
    return refuse("spawn_failed", failure instanceof Error ? failure.message : String(failure));
  }
}

function refused(
  { executable }: ProcessRequest,
  { reason, detail }: Pick<ProcessError, "reason" | "detail">,
): Result<never, ProcessError> {
  return err({ type: "process", reason, executable, detail });
}

/** Reads one stream to its end, keeps what fits and passes on text. */
class Drain {
  readonly done: Promise<void>;
  readonly #capture: Capture;
  readonly #reader: ReadableStreamBYOBReader;
  readonly #onOutput: (text: string) => void;
  #closed = false;

  constructor(
    stream: ReadableStream<Uint8Array>,
    options: { readonly maxBytes: number; readonly onOutput: (text: string) => void },
  ) {
    this.#capture = new Capture(Math.floor(options.maxBytes));
    this.#onOutput = options.onOutput;
    this.#reader = stream.getReader({ mode: "byob" });
    this.done = this.#run();
  }

  get droppedBytes(): number {
    return this.#capture.droppedBytes;
  }

  text(): string {
    return this.#capture.text();
  }

  /** Stops reading, whether the stream has ended or a background process holds it open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Cancelling a stream whose other end just broke rejects with that break: nothing to add to it.
    await this.#reader.cancel().catch(() => {});
    await this.done;
  }

  async #run(): Promise<void> {
    const decoder = new TextDecoder();
    let buffer = new Uint8Array(READ_BYTES);
    while (true) {
      let read: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;
      try {
        read = await this.#reader.read(buffer);
      } catch (failure) {
        // After `close` the reader is cancelled under a pending read; before it, the pipe broke.
        if (this.#closed || failure instanceof Deno.errors.BadResource) break;
        throw failure;
      }
      if (read.done || read.value === undefined) break;
      this.#capture.push(read.value);
      this.#onOutput(decoder.decode(read.value, { stream: true }));
      buffer = new Uint8Array(read.value.buffer);
    }
    const rest = decoder.decode();
    if (rest !== "") this.#onOutput(rest);
  }
}

function firstOf(
  child: Deno.ChildProcess,
  { timeoutMs, signal, force, timers }: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly force: AbortSignal;
    readonly timers: Timers;
  },
): Promise<ProcessOutcome["ended"]> {
  return new Promise((resolve, reject) => {
    const finish = (ended: ProcessOutcome["ended"]): void => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
      force.removeEventListener("abort", onAbort);
      resolve(ended);
    };
    const onAbort = (): void => finish("aborted");
    const cancelTimer = timers.after(timeoutMs, () => finish("timed_out"));
    signal.addEventListener("abort", onAbort, { once: true });
    force.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted || force.aborted) finish("aborted");
    child.status.then(() => finish("by_itself"), reject);
  });
}

/** The value, or null when it does not come in time. */
async function within<T>(
  promise: Promise<T>,
  { ms, timers }: { readonly ms: number; readonly timers: Timers },
): Promise<T | null> {
  let cancel: () => void = () => {};
  const late = new Promise<null>((resolve) => {
    cancel = timers.after(ms, () => resolve(null));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}

function exitOf(status: Deno.CommandStatus | null): ProcessOutcome["exit"] {
  if (status === null) return { type: "unknown" };
  return status.signal === null
    ? { type: "code", code: status.code }
    : { type: "signal", signal: status.signal };
}
