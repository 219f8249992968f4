import type { StorageError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { checkJournal } from "./check_journal.ts";
import { inspectDataDirectory, JOURNAL_PARTS } from "./data_directory.ts";
import { exists, syncPath } from "./private_files.ts";
import { toStorageError } from "./storage_failure.ts";

/** Begin of the names of folders that hold a damaged journal. */
const ASIDE = "damaged-";

/** What is wrong with the journal of a data directory; null when it is whole or not there yet. */
export async function findDamage(
  directory: string,
): Promise<Result<StorageError | null, StorageError>> {
  const inspected = inspectDataDirectory(directory);
  if (!inspected.ok) {
    return inspected.error.reason === "corrupt" ? ok(inspected.error) : inspected;
  }
  const { databasePath } = inspected.value;
  const damage = databasePath === null ? null : await checkJournal(databasePath);
  if (damage === null) return ok(null);
  return damage.reason === "corrupt" ? ok(damage) : err(damage);
}

/** Journals that were set aside here, by the names of their folders. */
export function listAside(directory: string): readonly string[] {
  if (!exists(directory)) return [];
  return [...Deno.readDirSync(directory)]
    .filter(({ name, isDirectory }) => isDirectory && name.startsWith(ASIDE))
    .map(({ name }) => name).sort();
}

/**
 * Moves a damaged journal with all its files into a private folder beside it; the next owner begins
 * a new one. Only for the owner of the workspace. Cut off in the middle, what is left counts as
 * damaged, and is set aside by the next call.
 *
 * @param options.wallMs Names the folder.
 * @returns The folder.
 */
export function setAside(
  directory: string,
  { wallMs }: { readonly wallMs: number },
): Result<string, StorageError> {
  const stamp = new Date(wallMs).toISOString().replaceAll(/[-:]/g, "").replace(/\.\d+/, "");
  const target = `${directory}/${ASIDE}${stamp}`;
  try {
    Deno.mkdirSync(target, { mode: 0o700 });
    for (const name of JOURNAL_PARTS) {
      if (exists(`${directory}/${name}`)) {
        Deno.renameSync(`${directory}/${name}`, `${target}/${name}`);
      }
    }
    syncPath(target);
    syncPath(directory);
    return ok(target);
  } catch (thrown) {
    return err(toStorageError(thrown, target));
  }
}
