import type { StorageError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { storageError, toStorageError } from "./storage_failure.ts";

/**
 * The private data directory of a workspace. Everything here happens on the main side, before the
 * store worker starts: worker permissions follow a symbolic link, so that the directory is none has
 * to be seen first. Wrong modes are refused with the command that repairs them, never repaired
 * silently: somebody may have read what is there.
 */

/** Names inside the data directory. */
const DATABASE = "state.sqlite3";
const DIRECTORIES = ["artifacts", "telemetry"] as const;
const FILES = [DATABASE, `${DATABASE}-wal`, `${DATABASE}-shm`] as const;

/** What makes up a journal; the database comes first, so that the rest without it counts as lost. */
export const JOURNAL_PARTS: readonly string[] = [...FILES, "artifacts"];

/** Any access of group or others. */
const SHARED_BITS = 0o077;

/** What is known of one path, by lstat. */
export interface EntryFacts {
  readonly path: string;
  readonly expected: "directory" | "file";
  readonly kind: "directory" | "file" | "link" | "other";
  /** User id of its owner. */
  readonly ownerId: number | null;
  /** Permission bits, or null where the platform has none. */
  readonly mode: number | null;
}

/** What Git says of the data directory; null outside a repository. */
export interface GitFacts {
  readonly tracked: boolean;
  readonly ignored: boolean;
}

export interface DataDirectoryFacts {
  readonly directory: string;
  /** User id of this process. */
  readonly userId: number | null;
  readonly entries: readonly EntryFacts[];
  readonly git: GitFacts | null;
}

/** Why the data directory must not be used, with the remedy; null when it may be. */
export function judgeDataDirectory(facts: DataDirectoryFacts): StorageError | null {
  for (const entry of facts.entries) {
    const refused = judgeEntry(entry, facts.userId);
    if (refused !== null) return refused;
  }
  if (facts.git === null) return null;
  const { directory } = facts;
  if (facts.git.tracked) {
    return storageError(
      "tracked_by_git",
      directory,
      `Git tracks private data: run git rm -r --cached ${quote(directory)}`,
    );
  }
  if (!facts.git.ignored) {
    return storageError(
      "not_ignored",
      directory,
      `Git does not ignore private data: add "/${baseName(directory)}/" to .git/info/exclude`,
    );
  }
  return null;
}

function judgeEntry(entry: EntryFacts, userId: number | null): StorageError | null {
  const { path, kind, expected } = entry;
  if (kind === "link") {
    return storageError(
      "is_link",
      path,
      `Private data must not be behind a symbolic link: replace it by a real ${expected}`,
    );
  }
  if (kind !== expected) {
    return storageError("not_private", path, `This must be a ${expected}: move it away`);
  }
  if (entry.ownerId === null || entry.mode === null || entry.ownerId !== userId) {
    return storageError("not_private", path, `It belongs to another user (${entry.ownerId})`);
  }
  if ((entry.mode & SHARED_BITS) !== 0) {
    const mode = (entry.mode & 0o777).toString(8).padStart(3, "0");
    const wanted = expected === "directory" ? "700" : "600";
    return storageError(
      "not_private",
      path,
      `Other users may reach it (mode ${mode}): run chmod ${wanted} ${quote(path)}`,
    );
  }
  return null;
}

/** Where the parts of a usable data directory are. */
export interface DataDirectory {
  readonly directory: string;
  readonly artifactsPath: string;
  /** Null when there is no database yet, which only inspection leaves so. */
  readonly databasePath: string | null;
}

/**
 * Makes what is missing of the data directory, private from the first moment, and judges all of it.
 *
 * @param directory Absolute path whose parents are resolved.
 */
export function prepareDataDirectory(directory: string): Result<DataDirectory, StorageError> {
  return guarded(directory, () => {
    makeDirectory(directory);
    // Judged before anything is made beneath it: it may be a link to somewhere else.
    const outer = judge(directory, [entryFacts(directory, "directory")]);
    if (outer !== null) return err(outer);
    for (const name of DIRECTORIES) makeDirectory(`${directory}/${name}`);
    const databasePath = `${directory}/${DATABASE}`;
    const inner = judge(directory, insideFacts(directory)) ?? judgeLoss(directory);
    if (inner !== null) return err(inner);
    makeFile(databasePath);
    // Once more: between the look and the making another process may have put something there.
    const refused = judge(directory, [entryFacts(databasePath, "file")]);
    if (refused !== null) return err(refused);
    return ok({ directory, artifactsPath: `${directory}/artifacts`, databasePath });
  });
}

/** Judges the data directory without making anything. */
export function inspectDataDirectory(directory: string): Result<DataDirectory, StorageError> {
  return guarded(directory, () => {
    const artifactsPath = `${directory}/artifacts`;
    const outer = entryFacts(directory, "directory");
    if (outer === null) return ok({ directory, artifactsPath, databasePath: null });
    const refused = judge(directory, [outer]) ?? judge(directory, insideFacts(directory)) ??
      judgeLoss(directory);
    if (refused !== null) return err(refused);
    const present = entryFacts(`${directory}/${DATABASE}`, "file") !== null;
    const databasePath = present ? `${directory}/${DATABASE}` : null;
    return ok({ directory, artifactsPath, databasePath });
  });
}

/** Whether the directory holds a journal already. */
export function hasJournal(directory: string): boolean {
  return lstat(`${directory}/${DATABASE}`) !== null;
}

function guarded(
  directory: string,
  work: () => Result<DataDirectory, StorageError>,
): Result<DataDirectory, StorageError> {
  if (!directory.startsWith("/")) {
    return err(storageError("io", directory, "The data directory needs an absolute path"));
  }
  try {
    return work();
  } catch (thrown) {
    return err(toStorageError(thrown, directory));
  }
}

function judge(
  directory: string,
  found: readonly (EntryFacts | null)[],
): StorageError | null {
  const entries = found.filter((entry) => entry !== null);
  return judgeDataDirectory({ directory, userId: Deno.uid(), entries, git: null });
}

function insideFacts(directory: string): (EntryFacts | null)[] {
  return [
    ...DIRECTORIES.map((name) => entryFacts(`${directory}/${name}`, "directory")),
    ...FILES.map((name) => entryFacts(`${directory}/${name}`, "file")),
  ];
}

/**
 * A database that is gone while its artifacts or its write-ahead log are still there was lost, not
 * never made: starting a new one over it would hide that.
 */
function judgeLoss(directory: string): StorageError | null {
  const path = `${directory}/${DATABASE}`;
  const size = sizeOf(path);
  if (size !== null && size > 0) return null;
  const artifacts = `${directory}/artifacts`;
  const left = (sizeOf(`${path}-wal`) ?? 0) > 0 ||
    lstat(artifacts) !== null && !Deno.readDirSync(artifacts)[Symbol.iterator]().next().done;
  if (!left) return null;
  return storageError(
    "corrupt",
    path,
    `The database is ${size === null ? "missing" : "empty"} but its records are not`,
  );
}

function sizeOf(path: string): number | null {
  return lstat(path)?.size ?? null;
}

function entryFacts(path: string, expected: EntryFacts["expected"]): EntryFacts | null {
  const info = lstat(path);
  if (info === null) return null;
  const kind = info.isSymlink
    ? "link"
    : info.isDirectory
    ? "directory"
    : info.isFile
    ? "file"
    : "other";
  return { path, expected, kind, ownerId: info.uid, mode: info.mode };
}

function lstat(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

function makeDirectory(path: string): void {
  if (lstat(path) !== null) return;
  try {
    Deno.mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    // Another process was faster; what it made is judged like anything found.
    if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
  }
}

/** SQLite would make its files 0644; the WAL and its index inherit the mode of the database. */
function makeFile(path: string): void {
  if (lstat(path) !== null) return;
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The path as a POSIX shell reads it. */
function quote(path: string): string {
  return /^[A-Za-z0-9_./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
