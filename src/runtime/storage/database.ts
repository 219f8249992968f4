import { DatabaseSync } from "node:sqlite";
import { migrate, type MigrationPoint, upgrade } from "./migrations.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";
import { Statements } from "./statements.ts";
import { fail } from "./storage_failure.ts";

/**
 * How long a statement waits for another connection's lock, in milliseconds. Long enough for a
 * checkpoint of a large WAL on a slow disk, short enough to report a stuck holder.
 */
export const BUSY_TIMEOUT_MS = 5_000;

/** Size to which SQLite cuts the WAL file back after a checkpoint, in bytes. */
const WAL_LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * Opens the one writing connection. Builds the schema in an empty file and migrates an older one
 * after a backup; verifies by reading back that WAL, full synchronisation, foreign keys and the
 * busy timeout are in force, and refuses to work in any weaker mode. Never recreates a file that is
 * not empty.
 *
 * @param options.availableBytes Free space of the file system, or null when it is not known.
 * @param options.at Told the points of a migration, so that tests can end the process there.
 */
export async function openWriter(
  path: string,
  { availableBytes, at }: {
    readonly availableBytes: number | null;
    readonly at?: (point: MigrationPoint) => void;
  },
): Promise<Statements> {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  const statements = new Statements(database, path);
  try {
    const version = identify(statements);
    // Before there is a page: freed pages are then given back to the file system after a purge.
    if (version === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA foreign_keys = ON");
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.exec("PRAGMA cell_size_check = ON");
    database.exec("PRAGMA trusted_schema = OFF");
    // What was deleted is overwritten: a purged conversation stays in no free page.
    database.exec("PRAGMA secure_delete = ON");
    database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    verifyModes(statements);
    if (version === 0) upgrade(statements);
    else if (version < SCHEMA_VERSION) {
      await migrate(statements, {
        from: version,
        availableBytes,
        ...(at === undefined ? {} : { at }),
      });
    }
    return statements;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Brings a private copy to the present version, so that it can be read; it needs no backup. */
export function upgradeCopy(path: string): void {
  const statements = new Statements(new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS }), path);
  try {
    const version = identify(statements);
    if (version > 0 && version < SCHEMA_VERSION) upgrade(statements);
  } finally {
    statements.close();
  }
}

/**
 * Opens a connection that cannot write. A file that is still empty, because its owner was
 * interrupted while it made it, reads as an empty journal.
 *
 * @throws `older_schema` for a journal that its next owner will migrate: a copy of it can be read.
 */
export function openReader(path: string): Statements {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  const statements = new Statements(database, path);
  try {
    database.exec("PRAGMA query_only = ON");
    database.exec("PRAGMA cell_size_check = ON");
    database.exec("PRAGMA trusted_schema = OFF");
    const version = identify(statements);
    if (version === SCHEMA_VERSION) return statements;
    if (version > 0) {
      fail("older_schema", path, `It has version ${version}, this Fluzo reads ${SCHEMA_VERSION}`);
    }
    database.close();
    return openEmpty();
  } catch (thrown) {
    if (database.isOpen) database.close();
    throw thrown;
  }
}

/** A journal without a record, for the inspection of a workspace that has none yet. */
export function openEmpty(): Statements {
  const statements = new Statements(new DatabaseSync(":memory:"), ":memory:");
  upgrade(statements);
  return statements;
}

/** What is in force on a writing connection, read back from SQLite. */
export interface Modes {
  readonly journalMode: unknown;
  readonly synchronous: unknown;
  readonly foreignKeys: unknown;
  readonly busyTimeoutMs: unknown;
}

/** Reads the modes that durability depends on. */
export function readModes(statements: Statements): Modes {
  return {
    journalMode: pragma(statements, "journal_mode"),
    synchronous: pragma(statements, "synchronous"),
    foreignKeys: pragma(statements, "foreign_keys"),
    busyTimeoutMs: pragma(statements, "busy_timeout"),
  };
}

/** Says which of the modes is weaker than required, or null. */
export function weakness(modes: Modes): string | null {
  if (modes.journalMode !== "wal") return `journal_mode is "${modes.journalMode}", not "wal"`;
  // 2 is FULL, 3 is EXTRA.
  if (modes.synchronous !== 2) return `synchronous is ${modes.synchronous}, not 2 (FULL)`;
  if (modes.foreignKeys !== 1) return `foreign_keys is ${modes.foreignKeys}, not 1 (ON)`;
  if (modes.busyTimeoutMs !== BUSY_TIMEOUT_MS) {
    return `busy_timeout is ${modes.busyTimeoutMs}, not ${BUSY_TIMEOUT_MS}`;
  }
  return null;
}

function verifyModes(statements: Statements): void {
  const weak = weakness(readModes(statements));
  if (weak === null) return;
  fail(
    "weaker_mode",
    statements.path,
    `SQLite cannot work durably here: ${weak}; keep the workspace on a local file system`,
  );
}

/** The version of the schema, 0 for an empty file; refuses another program's and a newer one. */
function identify(statements: Statements): number {
  const application = pragma(statements, "application_id");
  const version = pragma(statements, "user_version");
  if (application === APPLICATION_ID && typeof version === "number" && version > 0) {
    if (version <= SCHEMA_VERSION) return version;
    return fail(
      "newer_schema",
      statements.path,
      `The database has version ${version}, this Fluzo knows ${SCHEMA_VERSION}: update Fluzo`,
    );
  }
  const tables = statements.get("SELECT count(*) AS n FROM sqlite_schema")?.integer("n");
  if (application === 0 && version === 0 && tables === 0) return 0;
  return fail(
    "corrupt",
    statements.path,
    `This is not Fluzo's database (application ${application}, version ${version})`,
  );
}

/** Asks SQLite for a pragma's value; the name of the only column differs from pragma to pragma. */
function pragma(statements: Statements, name: string): unknown {
  return statements.first(`PRAGMA ${name}`);
}
