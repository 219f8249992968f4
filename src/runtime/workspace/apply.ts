import { FluzoFailure } from "../../core/errors.ts";
import { LinuxError } from "../linux/errno.ts";
import {
  exchange,
  makeDirectoryAt,
  type Place,
  removeDirectoryAt,
  renameNoReplace,
  setMode,
  setOwner,
  syncFd,
  unlinkAt,
  writeAll,
} from "../linux/files.ts";
import { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } from "../linux/open_flags.ts";
import {
  openat2,
  RESOLVE_BENEATH,
  RESOLVE_NO_MAGICLINKS,
  RESOLVE_NO_SYMLINKS,
} from "../linux/openat2.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { type FileStat, sameFile, statAt, statFd } from "../linux/statx.ts";
import { type FileContent, MAX_FILE_BYTES, readContent, readWhole } from "./_content.ts";
import { TEMPORARY_PREFIX } from "./_path_parts.ts";
import type { FileVersion } from "./protocol.ts";
import { type Plan, requireUnchanged } from "./plan.ts";
import { refuse } from "./_refusal.ts";
import { locateForWrite, locateNew, openRegular, openSubfolder, type Scope } from "./resolve.ts";

/**
 * Makes a planned change real. The new content is complete and on the disk under a private name
 * before one atomic rename puts it in place; then what came out is compared with the version that
 * was expected, and if somebody was faster, it is put back. No step replaces a file unseen.
 *
 * The private name holds the operation's id, so what a crash leaves behind can be told apart.
 */
export async function applyPlan(
  scope: Scope,
  plan: Plan,
  steps: ApplySteps = {},
): Promise<FileVersion> {
  switch (plan.type) {
    case "write":
      return await applyWrite(scope, plan, steps);
    case "create":
      return applyCreate(scope, plan, steps);
    case "delete":
      return await applyDelete(scope, plan, steps);
    case "rename":
      return await applyRename(scope, plan, steps);
  }
}

/** Lets a test act at the one moment that another program could. */
export interface ApplySteps {
  /** Runs after the last check and before the rename. */
  readonly beforeRename?: () => void;
}

type PlanOf<T extends Plan["type"]> = Extract<Plan, { readonly type: T }>;

async function applyWrite(
  scope: Scope,
  plan: PlanOf<"write">,
  steps: ApplySteps,
): Promise<FileVersion> {
  const { path } = plan;
  using location = locateForWrite(scope, path);
  const current = await readCurrent(location, plan);
  const target: Place = { directory: location.directory, name: location.name };
  const temporary = temporaryIn(location.directory, plan);
  const ours = writeTemporary(temporary, plan, {
    mode: current.stat.mode,
    owner: current.stat,
  });
  // Whether the private name holds our own refused content or the version that was checked; never
  // remove it while it may hold what somebody else wrote.
  let removable = true;
  try {
    steps.beforeRename?.();
    inPlace(path, () => exchange(temporary, target));
    removable = false;
    if (!isStill(temporary, current, path)) {
      exchangeBack(temporary, { target, ours, path });
      removable = true;
      refuseStale(path);
    }
    removable = true;
  } finally {
    if (removable) removeQuietly(temporary);
  }
  syncFd(location.directory);
  const placed = statAt(location.directory, location.name);
  return { ...plan.after, mode: placed?.mode ?? plan.after.mode };
}

function applyCreate(scope: Scope, plan: PlanOf<"create">, steps: ApplySteps): FileVersion {
  const { path } = plan;
  using place = locateNew(scope, path);
  using folders = makeFolders(place.directory, place.missing);
  const target: Place = { directory: folders.innermost, name: place.name };
  const temporary = temporaryIn(folders.innermost, plan);
  const mode = scope.workspace.newFileMode;
  try {
    writeTemporary(temporary, plan, { mode, owner: null });
    try {
      steps.beforeRename?.();
      inPlace(path, () => renameNoReplace(temporary, target));
    } catch (error) {
      removeQuietly(temporary);
      throw error;
    }
  } catch (error) {
    folders.undo();
    throw error;
  }
  syncFd(folders.innermost);
  return { ...plan.after, mode };
}

async function applyDelete(
  scope: Scope,
  plan: PlanOf<"delete">,
  steps: ApplySteps,
): Promise<FileVersion> {
  const { path } = plan;
  using location = locateForWrite(scope, path);
  const current = await readCurrent(location, plan);
  const target: Place = { directory: location.directory, name: location.name };
  const temporary = temporaryIn(location.directory, plan);
  steps.beforeRename?.();
  inPlace(path, () => renameNoReplace(target, temporary));
  if (!isStill(temporary, current, path)) putBack(temporary, target, path);
  unlinkAt(temporary);
  syncFd(location.directory);
  return { state: "absent" };
}

async function applyRename(
  scope: Scope,
  plan: PlanOf<"rename">,
  steps: ApplySteps,
): Promise<FileVersion> {
  const { path, to } = plan;
  using location = locateForWrite(scope, path);
  const current = await readCurrent(location, plan);
  using place = locateNew(scope, to);
  using folders = makeFolders(place.directory, place.missing);
  const source: Place = { directory: location.directory, name: location.name };
  const target: Place = { directory: folders.innermost, name: place.name };
  try {
    steps.beforeRename?.();
    inPlace(to, () => renameNoReplace(source, target));
    if (!isStill(target, current, path)) putBack(target, source, path);
  } catch (error) {
    folders.undo();
    throw error;
  }
  syncFd(folders.innermost);
  syncFd(location.directory);
  return { ...plan.before, mode: current.stat.mode };
}

async function readCurrent(
  location: ReturnType<typeof locateForWrite>,
  plan: PlanOf<"write" | "delete" | "rename">,
): Promise<FileContent> {
  const { path } = plan;
  // Deleted since the plan: also a version that is not the one expected.
  if (location.stat === null) refuseStale(path);
  const current = await readContent(location, { path, maxBytes: MAX_FILE_BYTES });
  requireUnchanged(current, path, plan.before.digest);
  return current;
}

function refuseStale(path: string): never {
  refuse("stale_version", path, "The file changed since it was read; read it again");
}

/** Runs the decisive rename; a name that came or went meanwhile means the version is stale. */
function inPlace(path: string, rename: () => void): void {
  try {
    rename();
  } catch (error) {
    if (error instanceof LinuxError && (error.code === "ENOENT" || error.code === "EEXIST")) {
      refuseStale(path);
    }
    throw error;
  }
}

/** True when the entry is the file that was checked, with the same bytes and one name. */
function isStill(place: Place, expected: FileContent, path: string): boolean {
  try {
    const { fd, stat } = openRegular(place.directory, place.name, path);
    using file = fd;
    if (!sameFile(stat, expected.stat) || stat.links !== 1) return false;
    const bytes = readWhole(file, {
      path,
      maxBytes: MAX_FILE_BYTES,
      sizeBytes: stat.sizeBytes,
    });
    return equalBytes(bytes, expected.bytes);
  } catch (error) {
    // A link, a folder, a device, something too large: not the file that was checked.
    if (error instanceof FluzoFailure || error instanceof LinuxError) return false;
    throw error;
  }
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Undoes an exchange. Whatever cannot be undone keeps every content and names where it is. */
function exchangeBack(
  temporary: Place,
  options: { readonly target: Place; readonly ours: FileStat; readonly path: string },
): void {
  const { target, ours, path } = options;
  try {
    exchange(temporary, target);
    const back = statAt(temporary.directory, temporary.name);
    if (back !== null && sameFile(back, ours)) return;
    // Somebody replaced our file as well: the newest content goes in place, the other is kept.
    exchange(temporary, target);
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
  }
  refuse(
    "io",
    path,
    `Changed again while it was put back; a content is kept in "${temporary.name}"`,
  );
}

/** Undoes a move. When the old name was taken meanwhile, the content stays and is named. */
function putBack(from: Place, to: Place, path: string): never {
  try {
    renameNoReplace(from, to);
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    refuse("io", path, `Cannot put the file back (${error.code}); it is in "${from.name}"`);
  }
  refuseStale(path);
}

function temporaryIn(directory: OwnedFd, plan: Plan): Place {
  return { directory, name: `${TEMPORARY_PREFIX}${plan.operationId}` };
}

/** Writes the new content under its private name and to the disk. Returns what the file is. */
function writeTemporary(
  place: Place,
  plan: PlanOf<"write" | "create">,
  attributes: { readonly mode: number; readonly owner: FileStat | null },
): FileStat {
  using file = openat2(place.directory, place.name, {
    flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    mode: 0o600,
    resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
  });
  try {
    writeAll(file, plan.content);
    const kept = attributes.owner === null || keepOwner(file, attributes.owner);
    setMode(file, kept ? attributes.mode : withoutGroup(attributes.mode));
    syncFd(file);
    return statFd(file);
  } catch (error) {
    removeQuietly(place);
    throw error;
  }
}

/** Gives the file its old owner and group. False when that is not permitted. */
function keepOwner(file: OwnedFd, owner: FileStat): boolean {
  const now = statFd(file);
  if (now.uid === owner.uid && now.gid === owner.gid) return true;
  try {
    setOwner(file, owner);
    return true;
  } catch (error) {
    if (error instanceof LinuxError && error.code === "EPERM") return false;
    throw error;
  }
}

/**
 * The mode for a file whose owner or group could not be kept: what the old group was granted must
 * not go to another group, nor a set-id bit to another user.
 */
function withoutGroup(mode: number): number {
  const others = mode & 0o007;
  return (mode & 0o1707) | (mode & 0o070 & (others << 3));
}

function removeQuietly(place: Place): void {
  try {
    unlinkAt(place);
  } catch (error) {
    // Gone already; anything else would hide the refusal that matters more.
    if (!(error instanceof LinuxError)) throw error;
  }
}

/** Folders that were made for a new file. `using` closes them; `undo` also removes them. */
class MadeFolders implements Disposable {
  readonly innermost: OwnedFd;
  readonly #made: readonly Place[];
  readonly #opened: readonly OwnedFd[];

  constructor(innermost: OwnedFd, made: readonly Place[], opened: readonly OwnedFd[]) {
    this.innermost = innermost;
    this.#made = made;
    this.#opened = opened;
  }

  /** Removes what was made, as far as nobody has put anything in. */
  undo(): void {
    for (const place of this.#made.toReversed()) {
      try {
        removeDirectoryAt(place);
      } catch (error) {
        if (error instanceof LinuxError) return;
        throw error;
      }
    }
  }

  [Symbol.dispose](): void {
    for (const fd of this.#opened) fd.close();
  }
}

const NEW_FOLDER_MODE = 0o755;

function makeFolders(directory: OwnedFd, names: readonly string[]): MadeFolders {
  const made: Place[] = [];
  const opened: OwnedFd[] = [];
  let current = directory;
  try {
    for (const name of names) {
      const place: Place = { directory: current, name };
      try {
        makeDirectoryAt(place, NEW_FOLDER_MODE);
        made.push(place);
        syncFd(current);
      } catch (error) {
        // Somebody else made it; opening it decides whether it can be used.
        if (!(error instanceof LinuxError && error.code === "EEXIST")) throw error;
      }
      current = openSubfolder(current, name);
      opened.push(current);
    }
    return new MadeFolders(current, made, opened);
  } catch (error) {
    using folders = new MadeFolders(current, made, opened);
    folders.undo();
    throw error;
  }
}
