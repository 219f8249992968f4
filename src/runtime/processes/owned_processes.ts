import type { Clock, Timers } from "../../core/clock.ts";
import { ok, type Result } from "../../core/result.ts";
import type { OperationId } from "../../core/ids.ts";
import type { EndedOperation, OperationLeft, ProcessIdentity } from "../../core/left_processes.ts";
import { libc } from "../linux/libc.ts";
import { adoptOrphans } from "../linux/pidfd.ts";
import { bootId, processStartTicks } from "../linux/process_identity.ts";
import { type ProcessRow, readProcess } from "../linux/process_table.ts";
import { type EndOptions, OwnedCommand, type OwnedSurroundings } from "./owned_command.ts";

/**
 * Which children that nobody accounts for are taken for a command's. `all`: this program starts no
 * processes in sessions of their own but commands, so each one was adopted from a command. `proven`:
 * the program around this runtime may start its own, so a session, a parent or the marker must tell.
 */
export type Adoption = "all" | "proven";

/**
 * The commands this process started whose processes have not all been seen to end. As long as there
 * is one, orphans among their descendants become children of this process, wherever they hide.
 */
export class OwnedProcesses {
  readonly #commands = new Set<OwnedCommand>();
  /** Children whose status Deno has not taken yet: nobody else may. */
  readonly #leaders = new Set<number>();
  readonly #around: OwnedSurroundings;
  /** The session of this process, once it is needed. */
  #session: number | null = null;

  constructor(
    { clock, timers, adoption }: {
      readonly clock: Clock;
      readonly timers: Timers;
      readonly adoption: Adoption;
    },
  ) {
    this.#around = {
      clock,
      timers,
      self: Deno.pid,
      strayed: (row, command) => adoption === "all" && this.#isStray(row, command),
      onGone: (command) => this.#forget(command),
    };
  }

  /** Why processes cannot be owned here, for example without the C library; null when they can. */
  unable(): string | null {
    try {
      libc();
      return null;
    } catch (failure) {
      if (failure instanceof Deno.errors.NotSupported) return failure.message;
      throw failure;
    }
  }

  /**
   * Starts a command and owns what comes of it. Orphans are adopted before it begins: one that is
   * quicker would be lost.
   *
   * @param operationId What `OPERATION_VARIABLE` says in the environment of the command.
   */
  start<E>(
    operationId: OperationId,
    spawn: () => Result<Deno.ChildProcess, E>,
  ): Result<{ readonly child: Deno.ChildProcess; readonly command: OwnedCommand }, E> {
    adoptOrphans(true);
    const spawned = spawn();
    if (!spawned.ok) {
      if (this.#commands.size === 0) adoptOrphans(false);
      return spawned;
    }
    const child = spawned.value;
    // What earlier commands left may have ended meanwhile.
    for (const earlier of this.#commands) earlier.tidy();
    // Read before Deno has had a turn to take the status: the line is there even if it has ended.
    const startTicks = processStartTicks(child.pid) ?? "0";
    const identity: ProcessIdentity = { pid: child.pid, startTicks, bootId: bootId() };
    const command = new OwnedCommand({ identity, operationId }, this.#around);
    this.#commands.add(command);
    this.#leaders.add(child.pid);
    child.status.finally(() => {
      this.#leaders.delete(child.pid);
      command.leaderEnded();
    });
    return ok({ child, command });
  }

  /** Commands that may still have processes. */
  get size(): number {
    return this.#commands.size;
  }

  /** What is alive now, by operation. */
  async list(): Promise<readonly OperationLeft[]> {
    return await Promise.all([...this.#commands].map(async (command) => ({
      operationId: command.operationId,
      left: await command.left(),
    })));
  }

  /** Ends what is left of these operations at once. Tells of those that had not ended before. */
  async end(
    operations: ReadonlySet<OperationId>,
    options: EndOptions,
  ): Promise<readonly EndedOperation[]> {
    return await endEach(
      [...this.#commands].filter(({ operationId }) => operations.has(operationId)),
      options,
    );
  }

  /** Ends every command at once. */
  async endAll(options: EndOptions): Promise<readonly EndedOperation[]> {
    return await endEach([...this.#commands], options);
  }

  #forget(command: OwnedCommand): void {
    this.#commands.delete(command);
    if (this.#commands.size === 0) adoptOrphans(false);
  }

  /** A child of ours in a session that is neither ours nor a command's, and no other's member. */
  #isStray(row: ProcessRow, command: OwnedCommand): boolean {
    this.#session ??= readProcess(Deno.pid)?.session ?? 0;
    if (row.session === this.#session || this.#leaders.has(row.pid)) return false;
    return [...this.#commands].every((other) =>
      other === command || !other.knows(row) && other.identity.pid !== row.session
    );
  }
}

async function endEach(
  commands: readonly OwnedCommand[],
  options: EndOptions,
): Promise<readonly EndedOperation[]> {
  return await Promise.all(commands.map(async (command) => {
    const { operationId, named: before } = command;
    return { operationId, before, left: await command.end(options) };
  }));
}
