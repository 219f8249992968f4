import { LinuxError } from "../linux/errno.ts";
import { readLinkAt } from "../linux/files.ts";
import {
  O_DIRECTORY,
  O_NOCTTY,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_PATH,
  O_RDONLY,
} from "../linux/open_flags.ts";
import {
  AT_FDCWD,
  openat2,
  RESOLVE_BENEATH,
  RESOLVE_NO_MAGICLINKS,
  RESOLVE_NO_SYMLINKS,
} from "../linux/openat2.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { type FileStat, statAt, statFd } from "../linux/statx.ts";
import type { Guard } from "./_guard.ts";
import { pathParts } from "./_path_parts.ts";
import { refuse } from "./_refusal.ts";
import type { Workspace } from "./_workspace.ts";

/**
 * From a requested path to an open directory and a name in it. The kernel resolves every folder
 * beneath the root; the last name is never followed by an open, but looked at first, so devices
 * and pipes are not even opened. What is returned has passed the guard.
 */

const FOLLOW = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
const STRICT = FOLLOW | RESOLVE_NO_SYMLINKS;
/** The kernel's own bound on links in one resolution. */
const MAX_LINKS = 40;

/** An operation's view of the workspace. */
export interface Scope {
  readonly workspace: Workspace;
  readonly guard: Guard;
}

/** A name in an open, checked directory. `using` closes the directory. */
export class Location implements Disposable {
  readonly directory: OwnedFd;
  readonly name: string;
  /** Null when nothing stands there. */
  readonly stat: FileStat | null;

  constructor(directory: OwnedFd, name: string, stat: FileStat | null) {
    this.directory = directory;
    this.name = name;
    this.stat = stat;
  }

  [Symbol.dispose](): void {
    this.directory.close();
  }
}

/**
 * Finds what a path leads to for reading. Links are followed as long as they stay inside; a link
 * with an absolute target leaves by definition.
 */
export function locateForRead(scope: Scope, path: string): Location {
  let current = pathParts(path);
  for (let links = 0; links <= MAX_LINKS; links++) {
    const name = current.at(-1);
    if (name === undefined || name === "..") refuse("is_directory", path);
    const folder = current.slice(0, -1);
    const directory = openFolder(scope.workspace, folder, { resolve: FOLLOW, flags: O_PATH });
    let keep = false;
    try {
      const stat = statAt(directory, name);
      if (stat === null || stat.kind !== "link") {
        scope.guard.checkDirectory(directory, path);
        if (stat !== null) scope.guard.checkEntry(directory, stat, path);
        keep = true;
        return new Location(directory, name, stat);
      }
      current = [...folder, ...linkTarget(directory, name, path)];
    } finally {
      if (!keep) directory.close();
    }
  }
  refuse("magic_link", path, "Too many links");
}

/** The names of a relative link; `..` stays, for the kernel to resolve beneath the root. */
function linkTarget(directory: OwnedFd, name: string, path: string): string[] {
  const target = new TextDecoder().decode(readLinkAt(directory, name));
  if (target.startsWith("/proc/")) refuse("magic_link", path, `The link leads to "${target}"`);
  if (target.startsWith("/")) refuse("outside_workspace", path, `The link leads to "${target}"`);
  return target.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Finds the place of an existing or new file for writing. No component may be a link; the refusal
 * names the real path when that lies in the workspace. The folder must exist.
 */
export function locateForWrite(scope: Scope, path: string): Location {
  const parts = pathParts(path);
  const name = parts.pop();
  if (name === undefined) refuse("is_directory", path);
  let directory: OwnedFd;
  try {
    directory = openFolder(scope.workspace, parts, { resolve: STRICT, flags: O_RDONLY });
  } catch (error) {
    if (error instanceof LinuxError && error.code === "ELOOP") refuseLink(scope, path);
    throw error;
  }
  try {
    scope.guard.checkDirectory(directory, path);
    const stat = statAt(directory, name);
    if (stat?.kind === "link") refuseLink(scope, path);
    if (stat !== null) scope.guard.checkEntry(directory, stat, path);
    return new Location(directory, name, stat);
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** A place whose folders may still have to be made. `using` closes the folder. */
export class NewLocation implements Disposable {
  /** The deepest folder that exists. */
  readonly directory: OwnedFd;
  /** Folders to make in it, outermost first. */
  readonly missing: readonly string[];
  readonly name: string;

  constructor(directory: OwnedFd, missing: readonly string[], name: string) {
    this.directory = directory;
    this.missing = missing;
    this.name = name;
  }

  [Symbol.dispose](): void {
    this.directory.close();
  }
}

/** Finds the place of a file that must not exist yet. Nothing is made. */
export function locateNew(scope: Scope, path: string): NewLocation {
  const parts = pathParts(path);
  const name = parts.at(-1);
  if (name === undefined) refuse("exists", path);
  for (let depth = parts.length - 1; depth >= 0; depth--) {
    const prefix = parts.slice(0, depth + 1).join("/");
    try {
      const { directory, stat } = locateForWrite(scope, prefix);
      if (depth === parts.length - 1) {
        if (stat === null) return new NewLocation(directory, [], name);
        directory.close();
        refuse("exists", path);
      }
      if (stat === null) return new NewLocation(directory, parts.slice(depth, -1), name);
      directory.close();
      refuse("not_directory", path, `"${prefix}" is not a folder`);
    } catch (error) {
      if (!(error instanceof LinuxError && error.code === "ENOENT")) throw error;
    }
  }
  refuse("not_found", path);
}

/** Opens a folder for listing; links that stay inside are followed. */
export function openForListing(scope: Scope, path: string): OwnedFd {
  const directory = openFolder(scope.workspace, pathParts(path), {
    resolve: FOLLOW,
    flags: O_RDONLY,
  });
  try {
    scope.guard.checkDirectory(directory, path);
    return directory;
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** Opens the subfolder `name` of a checked folder, which must not be a link. */
export function openSubfolder(directory: OwnedFd, name: string | Uint8Array): OwnedFd {
  return openat2(directory, name, {
    flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
    resolve: STRICT,
  });
}

/**
 * Opens the regular file of a name in a checked folder. Non-blocking and looked at again once open:
 * between the look and the open it may have become a pipe.
 */
export function openRegular(
  directory: OwnedFd,
  name: string | Uint8Array,
  path: string,
): { readonly fd: OwnedFd; readonly stat: FileStat } {
  const fd = openat2(directory, name, {
    flags: O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
    resolve: STRICT,
  });
  try {
    const stat = statFd(fd);
    requireRegular(stat, path);
    return { fd, stat };
  } catch (error) {
    fd.close();
    throw error;
  }
}

/** Refuses what is absent or not a regular file. */
export function requireRegular(stat: FileStat | null, path: string): asserts stat is FileStat {
  if (stat === null) refuse("not_found", path);
  if (stat.kind === "directory") refuse("is_directory", path);
  if (stat.kind === "link") refuse("through_link", path);
  if (stat.kind === "other") {
    refuse("special_file", path, "Not a regular file: a pipe, socket or device");
  }
}

function openFolder(
  workspace: Workspace,
  parts: readonly string[],
  how: { readonly resolve: number; readonly flags: number },
): OwnedFd {
  return openat2(workspace.root, parts.length === 0 ? "." : parts.join("/"), {
    flags: how.flags | O_DIRECTORY,
    resolve: how.resolve,
  });
}

function refuseLink(scope: Scope, path: string): never {
  // Throws its own refusal when the link leaves the workspace or leads to something protected.
  using target = locateForRead(scope, path);
  const real = realPath(scope.workspace, target);
  if (real === null) refuse("through_link", path, "The path goes through a link");
  refuse("through_link", path, `The path goes through a link; the real one is "${real}"`);
}

/** Where a location really is, relative to the root. For display only. */
function realPath(workspace: Workspace, location: Location): string | null {
  const root = descriptorPath(workspace.root);
  const folder = descriptorPath(location.directory);
  if (root === null || folder === null) return null;
  if (folder === root) return location.name;
  const prefix = root === "/" ? "/" : `${root}/`;
  if (!folder.startsWith(prefix)) return null;
  return `${folder.slice(prefix.length)}/${location.name}`;
}

function descriptorPath(fd: OwnedFd): string | null {
  try {
    return new TextDecoder().decode(readLinkAt(AT_FDCWD, `/proc/self/fd/${fd.number}`));
  } catch (error) {
    if (error instanceof LinuxError) return null;
    throw error;
  }
}
