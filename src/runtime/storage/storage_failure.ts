import { FluzoFailure, type StorageError, type StorageReason } from "../../core/errors.ts";

/** Longest text of SQLite or the kernel that is passed on, in UTF-16 units. */
const MAX_DETAIL_UNITS = 500;

/** Builds a `StorageError`. */
export function storageError(reason: StorageReason, path: string, detail: string): StorageError {
  return { type: "storage", reason, path, detail: detail.slice(0, MAX_DETAIL_UNITS) };
}

/** Ends what is being done with a typed error; the worker's edge unwraps it. */
export function fail(reason: StorageReason, path: string, detail: string): never {
  throw new FluzoFailure(storageError(reason, path, detail));
}

/** What SQLite's words mean. It gives no codes through `node:sqlite`; the first match wins. */
const MEANINGS: readonly (readonly [RegExp, StorageReason, string])[] = [
  [
    /malformed|not a database|malformed database schema|unsupported file format/i,
    "corrupt",
    "",
  ],
  [/disk is full|no space left|ENOSPC|os error 28/i, "disk_full", "free space on its file system"],
  [
    /locking protocol/i,
    "weaker_mode",
    "this file system lacks the locks SQLite needs; keep the workspace on a local one",
  ],
  [/is locked|is busy/i, "busy", "another program holds the database; end it and try again"],
  [/constraint failed|cannot store|datatype mismatch/i, "invalid_transition", ""],
  [
    /unable to open|readonly database|permission denied|read-only file system|Requires (read|write) access/i,
    "io",
    "the folder and its files must be readable and writable by the user who runs Fluzo",
  ],
];

/** The `StorageError` behind anything thrown while `path` was worked on. */
export function toStorageError(thrown: unknown, path: string): StorageError {
  if (thrown instanceof FluzoFailure && thrown.error.type === "storage") return thrown.error;
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  for (const [pattern, reason, remedy] of MEANINGS) {
    if (!pattern.test(words)) continue;
    return storageError(reason, path, remedy === "" ? words : `${words}: ${remedy}`);
  }
  return storageError("io", path, words);
}
