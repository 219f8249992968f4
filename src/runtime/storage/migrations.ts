import { DatabaseSync } from "node:sqlite";
import { APPLICATION_ID, SCHEMA_STEPS, SCHEMA_VERSION } from "./schema.ts";
import { PART } from "./artifacts.ts";
import { makePrivateFile, removeIfThere, syncPath } from "./private_files.ts";
import { fail } from "./storage_failure.ts";
import { Statements } from "./statements.ts";

/**
 * Where a migration can be cut off. At each of them the database is of the old version or of the
 * new one, whole, and from `backup_made` on the backup is there as well.
 */
export type MigrationPoint = "backup_begun" | "backup_made" | "step_applied" | "committed";

/** Bytes free beyond backup and log: what the first transactions afterwards need. */
const HEADROOM_BYTES = 16 * 1024 * 1024;

/** Where the journal as it was before is kept: beside it, until the user deletes it. */
export function backupPath(databasePath: string, version: number): string {
  return `${databasePath}.v${version}.backup`;
}

/** Brings a database to the present version, in one transaction; one without tables likewise. */
export function upgrade(
  statements: Statements,
  { at = () => {} }: { readonly at?: (point: MigrationPoint) => void } = {},
): void {
  statements.transaction("BEGIN IMMEDIATE", () => {
    // Read under the lock: another process may have done it meanwhile.
    const from = Number(statements.first("PRAGMA user_version"));
    for (const step of SCHEMA_STEPS.slice(from)) {
      statements.exec(step);
      at("step_applied");
    }
    statements.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    statements.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
  at("committed");
}

/**
 * Migrates a journal with content. A private backup, checked and on the disk, comes first; it
 * stays. Cut off anywhere, the next start does it again from the beginning.
 *
 * @param options.availableBytes Free space of the file system, or null when it is not known.
 * @param options.at Told each point as it is reached, so that tests can end the process there.
 * @throws `low_space` before anything is written, `corrupt` when the backup is not what it should be.
 */
export async function migrate(
  statements: Statements,
  { from, availableBytes, at = () => {} }: {
    readonly from: number;
    readonly availableBytes: number | null;
    readonly at?: (point: MigrationPoint) => void;
  },
): Promise<void> {
  refuseWithoutRoom(statements, availableBytes);
  const path = backupPath(statements.path, from);
  const temporary = path + PART;
  removeUnfinished(temporary);
  makePrivateFile(temporary);
  at("backup_begun");
  try {
    await statements.backupTo(temporary);
    // It was copied page by page: what is missing in it would be noticed when it is needed.
    checkBackup(statements, { temporary, from });
    syncPath(temporary);
    Deno.renameSync(temporary, path);
    syncPath(path.slice(0, path.lastIndexOf("/")));
  } catch (thrown) {
    removeUnfinished(temporary);
    throw thrown;
  }
  at("backup_made");
  upgrade(statements, { at });
}

/** SQLite may have left files beside a copy that was being checked. */
function removeUnfinished(temporary: string): void {
  for (const end of ["-wal", "-shm", ""]) removeIfThere(temporary + end);
}

function refuseWithoutRoom(statements: Statements, availableBytes: number | null): void {
  if (availableBytes === null) return;
  const bytes = databaseBytes(statements);
  // Once for the backup and once for a write-ahead log that may hold every page.
  const needed = 2 * bytes + HEADROOM_BYTES;
  if (availableBytes >= needed) return;
  fail(
    "low_space",
    statements.path,
    `The journal is to be brought to a new version; that needs ${needed} bytes for a backup, ` +
      `and ${availableBytes} are free`,
  );
}

/** Bytes of the database file, without its log. */
export function databaseBytes(statements: Statements): number {
  return Number(statements.first("PRAGMA page_count")) *
    Number(statements.first("PRAGMA page_size"));
}

function checkBackup(
  statements: Statements,
  { temporary, from }: { readonly temporary: string; readonly from: number },
): void {
  const pages = Number(statements.first("PRAGMA page_count"));
  const copy = new Statements(new DatabaseSync(temporary), temporary);
  try {
    const checked = copy.first("PRAGMA quick_check(1)");
    const version = copy.first("PRAGMA user_version");
    const copied = copy.first("PRAGMA page_count");
    if (checked === "ok" && version === from && copied === pages) return;
    fail(
      "corrupt",
      statements.path,
      `Its backup before a migration is not like it (${checked}, version ${version}, ` +
        `${copied} of ${pages} pages): nothing was changed`,
    );
  } finally {
    copy.close();
  }
}
