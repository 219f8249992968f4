import type {
  FileCount,
  Leftovers,
  RemovedFiles,
  StorageUse,
} from "../../core/port/read_models.ts";
import { parseId } from "../../core/ids.ts";
import { artifactPath, PART } from "./artifacts.ts";
import { databaseBytes } from "./migrations.ts";
import { removeIfThere, sizeIfThere, syncPath } from "./private_files.ts";
import { fail } from "./storage_failure.ts";
import type { Statements } from "./statements.ts";

/** Files removed between two commits: what a kill makes the next owner do again. */
const REMOVAL_BATCH = 500;

/** Pages given back to the file system in one transaction (4 MiB): bounds the write-ahead log. */
const VACUUM_PAGES = 1024;

/** What the journal and its artifacts take up. Costs the same however much there is. */
export function readUse(statements: Statements): StorageUse {
  const head = statements.get("SELECT artifact_bytes FROM journal_head");
  const waiting = statements.get(
    "SELECT count(*) AS files, coalesce(sum(size_bytes), 0) AS bytes FROM artifact_deletions",
  );
  if (head === null || waiting === null) {
    return fail("corrupt", statements.path, "The journal has lost its head record");
  }
  return {
    journalBytes: databaseBytes(statements) + (sizeIfThere(`${statements.path}-wal`) ?? 0),
    artifactBytes: head.integer("artifact_bytes"),
    waiting: { files: waiting.integer("files"), bytes: waiting.integer("bytes") },
  };
}

/**
 * Removes the files of artifacts whose records are gone. A file that cannot be removed stays on the
 * list and does not keep the others; asked again, it is tried again.
 */
export function removePurged(
  statements: Statements,
  { artifactsPath, afterFile = () => {} }: {
    readonly artifactsPath: string;
    /** Told after each file, so that tests can end the process there. */
    readonly afterFile?: () => void;
  },
): RemovedFiles {
  let removed = 0;
  let problem: string | null = null;
  for (let after = "";;) {
    const rows = statements.all(
      "SELECT id FROM artifact_deletions WHERE id > ? ORDER BY id LIMIT ?",
      after,
      REMOVAL_BATCH,
    );
    const ids = rows.map((row) => row.text("id"));
    const gone = ids.filter((id) => {
      try {
        removeIfThere(artifactPath(artifactsPath, id));
        afterFile();
        return true;
      } catch (thrown) {
        if (!(thrown instanceof Error)) throw thrown;
        problem ??= thrown.message;
        return false;
      }
    });
    // A name that comes back after a power cut would be a file without a record.
    if (gone.length > 0) syncPath(artifactsPath);
    statements.transaction("BEGIN IMMEDIATE", () => {
      for (const id of gone) statements.run("DELETE FROM artifact_deletions WHERE id = ?", id);
    });
    removed += gone.length;
    const last = ids.at(-1);
    if (last === undefined || ids.length < REMOVAL_BATCH) break;
    after = last;
  }
  const left = statements.get("SELECT count(*) AS n FROM artifact_deletions")?.integer("n") ?? 0;
  return { removed, left, problem };
}

/**
 * Counts, and removes if asked to, what no record needs. Only true while nothing writes artifacts,
 * so a task at work refuses it.
 */
export function handleLeftovers(
  statements: Statements,
  { databasePath, artifactsPath, remove }: {
    readonly databasePath: string;
    readonly artifactsPath: string;
    readonly remove: boolean;
  },
): Leftovers {
  if (statements.first("SELECT count(*) FROM attempts WHERE state = 'open'") !== 0) {
    fail("busy", artifactsPath, "A task is at work");
  }
  const end = databasePath.lastIndexOf("/");
  const backup = new RegExp(`^${RegExp.escape(databasePath.slice(end + 1))}\\.v[0-9]+\\.backup`);
  return {
    unrecorded: handleFiles(artifactsPath, {
      remove,
      isMeant: (name) => isUnrecorded(statements, name),
    }),
    backups: handleFiles(databasePath.slice(0, end), {
      remove,
      isMeant: (name) => backup.test(name),
    }),
  };
}

function handleFiles(
  directory: string,
  { remove, isMeant }: {
    readonly remove: boolean;
    readonly isMeant: (name: string) => boolean;
  },
): FileCount {
  let files = 0;
  let bytes = 0;
  for (const { name, isFile } of [...Deno.readDirSync(directory)]) {
    if (!isFile || !isMeant(name)) continue;
    const path = `${directory}/${name}`;
    files++;
    bytes += sizeIfThere(path) ?? 0;
    if (remove) removeIfThere(path);
  }
  if (remove && files > 0) syncPath(directory);
  return { files, bytes };
}

/** Names that Fluzo does not give are somebody else's, and stay. */
function isUnrecorded(statements: Statements, name: string): boolean {
  const unfinished = name.endsWith(PART);
  const id = unfinished ? name.slice(0, -PART.length) : name;
  if (parseId("artifact", id) === null) return false;
  if (unfinished) return true;
  return statements.get(
    "SELECT 1 FROM artifacts WHERE id = ?1 UNION ALL SELECT 1 FROM artifact_deletions WHERE id = ?1",
    id,
  ) === null;
}

/** Gives the pages that deleted records had back to the file system, and empties the log. */
export function compact(statements: Statements): void {
  for (;;) {
    const free = Number(statements.first("PRAGMA freelist_count"));
    if (free === 0) break;
    statements.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
    // A journal that began as version 1 keeps its free pages and uses them again.
    if (Number(statements.first("PRAGMA freelist_count")) === free) break;
  }
  statements.first("PRAGMA wal_checkpoint(TRUNCATE)");
}
