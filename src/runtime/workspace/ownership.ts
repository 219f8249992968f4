import type { OwnerConflictError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";

/** Name of the lock file in the data directory; it also holds what the owner says of itself. */
const LOCK_FILE = "owner.lock";

/** Largest owner record that is read, in bytes. */
const MAX_RECORD_BYTES = 4096;

/** A reader holds the lock for a moment when it looks; an owner tries again this often. */
const TRIES = 10;
const RETRY_MS = 10;

/**
 * The right to be the one Fluzo that works in a workspace: an exclusive kernel lock on a file in
 * its data directory. The kernel lets go of it when the process ends, however it ends; the record
 * in the file is for people and proves nothing.
 */
export class WorkspaceOwnership {
  readonly #file: Deno.FsFile;
  readonly #since: string;

  private constructor(file: Deno.FsFile, since: string) {
    this.#file = file;
    this.#since = since;
  }

  /**
   * Takes the ownership, or says who has it.
   *
   * @param directory The data directory, checked and private.
   */
  static async acquire(
    directory: string,
    { workspace, wallMs }: { readonly workspace: string; readonly wallMs: number },
  ): Promise<Result<WorkspaceOwnership, OwnerConflictError>> {
    const path = `${directory}/${LOCK_FILE}`;
    const file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (file.tryLockSync(true)) {
        const ownership = new WorkspaceOwnership(file, new Date(wallMs).toISOString());
        ownership.describe("");
        return ok(ownership);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    file.close();
    return err({ type: "owner_conflict", workspace, owner: readRecord(path) });
  }

  /** Writes down what the owner works on, for whoever is refused meanwhile. */
  describe(task: string): void {
    const record = new TextEncoder().encode(
      `${JSON.stringify({ pid: Deno.pid, since: this.#since, task })}\n`,
    );
    this.#file.truncateSync(0);
    this.#file.seekSync(0, Deno.SeekMode.Start);
    this.#file.writeSync(record);
  }

  /** Gives it up. */
  release(): void {
    this.#file.truncateSync(0);
    this.#file.close();
  }
}

/** Whether some process owns the workspace now, by its kernel lock. */
export function isOwned(directory: string): boolean {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(`${directory}/${LOCK_FILE}`, { read: true });
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return false;
    throw failure;
  }
  try {
    return !file.tryLockSync(false);
  } finally {
    file.close();
  }
}

function readRecord(path: string): OwnerConflictError["owner"] {
  let value: unknown;
  try {
    value = JSON.parse(Deno.readTextFileSync(path).slice(0, MAX_RECORD_BYTES));
  } catch {
    // A record that is being written, or none: the lock is what counts.
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { pid, since, task } = value as Readonly<Record<string, unknown>>;
  return typeof pid === "number" && typeof since === "string" && typeof task === "string"
    ? { pid, since, task }
    : null;
}
