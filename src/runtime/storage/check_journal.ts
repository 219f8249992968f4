import type { StorageError } from "../../core/errors.ts";
import { openReader, upgradeCopy } from "./database.ts";
import { copyDatabase } from "./private_copy.ts";
import { storageError, toStorageError } from "./storage_failure.ts";

/**
 * Reads every page of a journal and checks that they fit together; null when they do. Works on a
 * private copy, since SQLite leaves files beside a database it reads, and takes time in proportion
 * to the file: for somebody who asks, never for a start.
 */
export async function checkJournal(databasePath: string): Promise<StorageError | null> {
  const copied = await copyDatabase(databasePath);
  if (!copied.ok) return copied.error;
  const copy = copied.value;
  try {
    upgradeCopy(copy.databasePath);
    const statements = openReader(copy.databasePath);
    try {
      const first = statements.first("PRAGMA quick_check(1)");
      return first === "ok" ? null : storageError("corrupt", databasePath, String(first));
    } finally {
      statements.close();
    }
  } catch (thrown) {
    return { ...toStorageError(thrown, databasePath), path: databasePath };
  } finally {
    await copy.remove();
  }
}
