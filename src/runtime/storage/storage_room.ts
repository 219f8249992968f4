import type { StorageError } from "../../core/errors.ts";
import { LinuxError } from "../linux/errno.ts";
import { availableBytes, fileSystemOf } from "../linux/file_system.ts";
import type { JournalReader } from "./journal.ts";
import { storageError, toStorageError } from "./storage_failure.ts";

/**
 * Free space below which nothing more is begun in a task at work, in bytes: what its own end needs,
 * with the largest output and pre-image of one operation, several times over.
 */
export const RESERVE_BYTES = 32 * 1024 * 1024;

/** How much may be kept, and how much has to stay free; both in bytes. */
export interface StorageLimits {
  readonly maxBytes: number;
  readonly minFreeBytes: number;
}

/** Says whether there is room for the records of what is about to be done. */
export class StorageRoom {
  readonly #directory: string;
  readonly #limits: StorageLimits;
  readonly #reader: Pick<JournalReader, "use">;
  readonly #availableBytes: (path: string) => number;

  /** @param options.availableBytes Free space of the file system of a path. */
  constructor(
    directory: string,
    options: {
      readonly limits: StorageLimits;
      readonly reader: Pick<JournalReader, "use">;
      readonly availableBytes?: (path: string) => number;
    },
  ) {
    this.#directory = directory;
    this.#limits = options.limits;
    this.#reader = options.reader;
    this.#availableBytes = options.availableBytes ?? availableBytes;
  }

  /** Why no task may begin or go on; null when one may. */
  async forTask(): Promise<StorageError | null> {
    const { maxBytes, minFreeBytes } = this.#limits;
    const low = this.#belowFree(minFreeBytes);
    if (low !== null) return low;
    const use = await this.#reader.use();
    if (!use.ok) return use.error;
    const { journalBytes, artifactBytes } = use.value;
    const bytes = journalBytes + artifactBytes;
    if (bytes < maxBytes) return null;
    return storageError(
      "limit_reached",
      this.#directory,
      `${bytes} bytes are kept, ${maxBytes} are allowed`,
    );
  }

  /** Why a task at work must begin nothing more; null when it may. One system call. */
  forOperation(): StorageError | null {
    return this.#belowFree(Math.min(RESERVE_BYTES, this.#limits.minFreeBytes));
  }

  #belowFree(needed: number): StorageError | null {
    try {
      const free = this.#availableBytes(this.#directory);
      if (free >= needed) return null;
      const { type, mountPoint } = fileSystemOf(this.#directory);
      return storageError(
        "low_space",
        this.#directory,
        `${free} bytes of ${type} at ${mountPoint} are free, ${needed} have to stay free`,
      );
    } catch (thrown) {
      if (thrown instanceof LinuxError) return toStorageError(thrown, this.#directory);
      throw thrown;
    }
  }
}
