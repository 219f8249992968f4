import { directoryEntries } from "../linux/directory_entries.ts";
import { LinuxError } from "../linux/errno.ts";
import { readSome } from "../linux/files.ts";
import { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_PATH, O_RDONLY } from "../linux/open_flags.ts";
import { AT_FDCWD, openat2 } from "../linux/openat2.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { type FileStat, sameFile, statAt, statFd } from "../linux/statx.ts";
import { PROTECTED_NAMES } from "./_path_parts.ts";
import { refuse } from "./_refusal.ts";
import type { Workspace } from "./_workspace.ts";

/** Entries of protected folders that are compared with a multiply-linked file before giving up. */
const MAX_ALIAS_ENTRIES = 50_000;
/** A `.git` file holds one path. */
const MAX_POINTER_BYTES = 8_192;
/** Folders between a file and the root; the kernel's path bound allows no more. */
const MAX_DEPTH = 2_048;

/** Something protected: what it is and how to open it. */
interface ProtectedPlace {
  readonly stat: FileStat;
  readonly base: OwnedFd | typeof AT_FDCWD;
  readonly path: string;
}

/**
 * What must not be touched, by identity, as it is at the start of one operation. Names are compared
 * elsewhere; this catches the same directory or file reached through a link, another case, a hard
 * link or a bind mount. Made anew for each operation: the paths may have been created since.
 */
export class Guard {
  readonly #workspace: Workspace;
  readonly #places: readonly ProtectedPlace[];
  #aliases: { readonly inodes: ReadonlySet<string>; readonly complete: boolean } | null = null;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#places = protectedPlaces(workspace);
  }

  /** True when the file or directory is itself protected. */
  protects(stat: FileStat): boolean {
    return this.#places.some((place) => sameFile(place.stat, stat));
  }

  /**
   * Refuses unless `directory` lies beneath the root and neither it nor any folder above it, up to
   * the root, is protected. Walks the real folders, so it does not matter how the path got there.
   */
  checkDirectory(directory: OwnedFd, path: string): void {
    const root = this.#workspace.stat;
    let child = statFd(directory);
    let current: OwnedFd | null = null;
    try {
      for (let depth = 0; depth < MAX_DEPTH; depth++) {
        if (this.protects(child)) refuse("protected_path", path);
        if (sameFile(child, root)) return;
        const parent: OwnedFd = openat2(current ?? directory, "..", {
          flags: O_PATH | O_DIRECTORY,
          resolve: 0,
        });
        current?.close();
        current = parent;
        if (isProtectedChild(parent, child)) refuse("protected_path", path);
        const above = statFd(parent);
        if (sameFile(above, child)) break;
        child = above;
      }
    } finally {
      current?.close();
    }
    refuse("outside_workspace", path, "The folder is not beneath the workspace root");
  }

  /** Refuses an entry of a checked directory that is protected by identity. */
  checkEntry(directory: OwnedFd, stat: FileStat, path: string): void {
    if (this.protects(stat) || isProtectedChild(directory, stat)) refuse("protected_path", path);
    this.checkAlias(stat, path);
  }

  /** Refuses a file with several names when one of them lies in a protected folder. */
  checkAlias(stat: FileStat, path: string): void {
    if (stat.kind !== "file" || stat.links < 2) return;
    this.#aliases ??= this.#collectAliases();
    if (this.#aliases.inodes.has(aliasKey(stat.device, stat.inode))) {
      refuse("protected_path", path, "The file is a hard link to a protected one");
    }
    if (!this.#aliases.complete) {
      refuse("multiply_linked", path, "Cannot tell whether another name of it is protected");
    }
  }

  #collectAliases(): { inodes: ReadonlySet<string>; complete: boolean } {
    const inodes = new Set<string>();
    let left = MAX_ALIAS_ENTRIES;
    const visit = (directory: OwnedFd, isGit: boolean): void => {
      const { device } = statFd(directory);
      const folders: Uint8Array[] = [];
      for (const entry of directoryEntries(directory)) {
        if (left-- <= 0) return;
        const kind = entry.kind ?? statAt(directory, entry.name)?.kind;
        if (kind === "file") inodes.add(aliasKey(device, entry.inode));
        // Objects are compressed content, and local clones share them by hard links.
        if (kind === "directory" && !(isGit && isObjects(entry.name))) folders.push(entry.name);
      }
      for (const name of folders) {
        using folder = openFolder(directory, name);
        if (folder !== null) visit(folder, false);
      }
    };
    for (const place of this.#places) {
      if (place.stat.kind === "file") inodes.add(aliasKey(place.stat.device, place.stat.inode));
      if (place.stat.kind !== "directory") continue;
      using folder = openFolder(place.base, place.path);
      // Protected and unreadable: what is in it cannot be told from the file that is asked for.
      if (folder === null) left = 0;
      else visit(folder, place.path === ".git");
    }
    return { inodes, complete: left > 0 };
  }
}

const OBJECTS = "objects";

function isObjects(name: Uint8Array): boolean {
  return new TextDecoder().decode(name) === OBJECTS;
}

function aliasKey(device: number, inode: bigint): string {
  return `${device}:${inode}`;
}

/** True when `child` is what a protected name of `parent` stands for. */
function isProtectedChild(parent: OwnedFd, child: FileStat): boolean {
  return PROTECTED_NAMES.some((name) => {
    const stat = statAt(parent, name);
    return stat !== null && sameFile(stat, child);
  });
}

function openFolder(base: OwnedFd | typeof AT_FDCWD, path: string | Uint8Array): OwnedFd | null {
  try {
    return openat2(base, path, { flags: O_RDONLY | O_DIRECTORY, resolve: 0 });
  } catch (error) {
    if (error instanceof LinuxError) return null;
    throw error;
  }
}

function protectedPlaces(workspace: Workspace): ProtectedPlace[] {
  const places: ProtectedPlace[] = [];
  const add = (base: ProtectedPlace["base"], path: string, follow: boolean): void => {
    let stat: FileStat | null;
    try {
      stat = statAt(base, path, { follow });
    } catch (error) {
      // Behind a folder this user cannot enter, or a link that loops: nothing can reach it.
      if (error instanceof LinuxError) return;
      throw error;
    }
    if (stat !== null) places.push({ stat, base, path });
  };
  for (const name of PROTECTED_NAMES) {
    add(workspace.root, name, false);
    add(workspace.root, name, true);
  }
  for (const path of workspace.protectedPaths) {
    add(AT_FDCWD, path, false);
    add(AT_FDCWD, path, true);
  }
  const gitFolder = gitPointer(workspace.root);
  if (gitFolder !== null) {
    const base = gitFolder.startsWith("/") ? AT_FDCWD : workspace.root;
    add(base, gitFolder, true);
    // The repository that the worktree belongs to: its configuration and hooks run programs.
    const common = readPointer(base, `${gitFolder}/commondir`)?.trim();
    if (common?.startsWith("/")) add(AT_FDCWD, common, true);
    else if (common) add(base, `${gitFolder}/${common}`, true);
  }
  return places;
}

/** The folder that the `.git` file of a linked worktree names. */
function gitPointer(root: OwnedFd): string | null {
  if (statAt(root, ".git")?.kind !== "file") return null;
  return /^gitdir: ([^\n\0]+)/.exec(readPointer(root, ".git") ?? "")?.[1] ?? null;
}

/** The start of a small file of Git's, or null when it cannot be read. */
function readPointer(base: OwnedFd | typeof AT_FDCWD, path: string): string | null {
  try {
    using file = openat2(base, path, { flags: O_RDONLY | O_NONBLOCK | O_NOFOLLOW, resolve: 0 });
    const buffer = new Uint8Array(MAX_POINTER_BYTES);
    const text = new TextDecoder().decode(buffer.subarray(0, readSome(file, buffer)));
    return text.includes("\0") ? null : text;
  } catch (error) {
    if (error instanceof LinuxError) return null;
    throw error;
  }
}
