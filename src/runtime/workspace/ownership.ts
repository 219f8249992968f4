import type { OwnerConflictError, StorageError } from "../../core/errors.ts";
import type { InstanceId, TaskId } from "../../core/ids.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { toStorageError } from "../storage/storage_failure.ts";
import {
  type ControlPlace,
  namesLivingProcess,
  type OwnerRecord,
  ownRecord,
  readOwnerRecord,
  removeOwnerRecord,
  writeOwnerRecord,
} from "./owner_record.ts";

/** Name of the lock file in the data directory. It is never removed: its lock is what counts. */
const LOCK_FILE = "owner.lock";

/** How often a lock that somebody holds is tried again, in milliseconds. */
const RETRY_MS = 10;

/** Tries against an owner at work: a reader that looks holds the lock for a moment as well. */
const TRIES = 10;

/**
 * Tries where no owner at work is named: one is just beginning or ending, or writes an answer to the
 * journal and is done.
 */
const PASSING_TRIES = 100;

/**
 * The right to be the one Fluzo that works in a workspace: an exclusive kernel lock on a file in
 * its data directory. The kernel lets go of it when the process ends, however it ends; the record
 * beside it is for people and for finding the control socket, and proves nothing.
 */
export class WorkspaceOwnership {
  readonly #file: Deno.FsFile;
  readonly #directory: string;
  /** What an owner left that did not give the workspace up properly; null after a clean end. */
  readonly abandoned: OwnerRecord | null;
  #record: OwnerRecord;

  private constructor(
    file: Deno.FsFile,
    parts: {
      readonly directory: string;
      readonly record: OwnerRecord;
      readonly abandoned: OwnerRecord | null;
    },
  ) {
    this.#file = file;
    this.#directory = parts.directory;
    this.#record = parts.record;
    this.abandoned = parts.abandoned;
  }

  /**
   * Takes the ownership, or says who has it.
   *
   * @param directory The data directory, checked and private.
   */
  static async acquire(
    directory: string,
    { workspace, wallMs, instanceId }: {
      readonly workspace: string;
      readonly wallMs: number;
      readonly instanceId: InstanceId;
    },
  ): Promise<Result<WorkspaceOwnership, OwnerConflictError | StorageError>> {
    const path = `${directory}/${LOCK_FILE}`;
    let file: Deno.FsFile;
    try {
      file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    } catch (thrown) {
      // A read-only or full file system, or permissions that were lost.
      return err(toStorageError(thrown, path));
    }
    for (let tries = 1; !file.tryLockSync(true); tries++) {
      if (tries >= (isAtWork(readOwnerRecord(directory)) ? TRIES : PASSING_TRIES)) {
        file.close();
        return err({ type: "owner_conflict", workspace, owner: describeOwner(directory) });
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    const abandoned = readOwnerRecord(directory);
    const record = ownRecord(instanceId, wallMs);
    const ownership = new WorkspaceOwnership(file, { directory, record, abandoned });
    ownership.#write(record);
    return ok(ownership);
  }

  /** Writes down what the owner works on, for whoever is refused meanwhile. */
  describe(task: TaskId | null): void {
    this.#write({ ...this.#record, task });
  }

  /** Writes down where the owner answers other terminals. */
  announce(control: ControlPlace): void {
    this.#write({ ...this.#record, control });
  }

  /** Gives it up. */
  release(): void {
    removeOwnerRecord(this.#directory);
    this.#file.close();
  }

  /** The record only helps others: a disk that does not take it must not stop what runs. */
  #write(record: OwnerRecord): void {
    this.#record = record;
    try {
      writeOwnerRecord(this.#directory, record);
    } catch {
      // The lock is held all the same; a conflict then names nobody.
    }
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

/** Whether a record is that of a living owner that is there to stay. */
function isAtWork(record: OwnerRecord | null): boolean {
  return record !== null && record.control.type !== "starting" && namesLivingProcess(record);
}

/** The owner in the words of a conflict; null when its record is another process's. */
function describeOwner(directory: string): OwnerConflictError["owner"] {
  const record = readOwnerRecord(directory);
  // A new owner holds the lock for a moment before its record replaces the one it found.
  if (record === null || !namesLivingProcess(record)) return null;
  return {
    pid: record.pid,
    since: new Date(record.startedWallMs).toISOString(),
    task: record.task ?? "",
  };
}
