import type { StorageError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { storageError, toStorageError } from "./storage_failure.ts";

/** How often a copy is taken anew because the database changed meanwhile. */
const MAX_TRIES = 3;

/** A copy of a database in a private directory of its own. */
export interface PrivateCopy {
  readonly directory: string;
  readonly databasePath: string;
  /** Removes the copy. */
  remove(): Promise<void>;
}

/**
 * Copies a database with its write-ahead log. SQLite reads a WAL database only where it may write
 * the log's index beside it, so in a read-only folder nothing but a copy can be read. A copy during
 * which the original changed is worthless and taken anew.
 */
export async function copyDatabase(
  databasePath: string,
): Promise<Result<PrivateCopy, StorageError>> {
  let directory: string;
  try {
    // Made with mode 0700.
    directory = await Deno.makeTempDir({ prefix: "fluzo-inspect-" });
  } catch (thrown) {
    return err(toStorageError(thrown, databasePath));
  }
  const copy: PrivateCopy = {
    directory,
    databasePath: `${directory}/state.sqlite3`,
    remove: () => Deno.remove(directory, { recursive: true }).catch(() => {}),
  };
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await versionOf(databasePath);
      await Deno.copyFile(databasePath, copy.databasePath);
      if (before.log !== null) {
        await Deno.copyFile(`${databasePath}-wal`, `${copy.databasePath}-wal`);
      }
      if (sameVersion(before, await versionOf(databasePath))) return ok(copy);
      await removeIfThere(`${copy.databasePath}-wal`);
    }
  } catch (thrown) {
    await copy.remove();
    return err(toStorageError(thrown, databasePath));
  }
  await copy.remove();
  return err(storageError("busy", databasePath, "It changes faster than it can be copied"));
}

interface Version {
  readonly main: string;
  /** Null when there is no write-ahead log. */
  readonly log: string | null;
}

async function versionOf(databasePath: string): Promise<Version> {
  const main = await stamp(databasePath);
  if (main === null) throw new Deno.errors.NotFound(`Cannot find "${databasePath}"`);
  return { main, log: await stamp(`${databasePath}-wal`) };
}

async function stamp(path: string): Promise<string | null> {
  try {
    const { ino, size, mtime } = await Deno.lstat(path);
    return `${ino} ${size} ${mtime?.getTime()}`;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

function sameVersion(a: Version, b: Version): boolean {
  return a.main === b.main && a.log === b.log;
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}
