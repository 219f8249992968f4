import { readKernelFile } from "../linux/kernel_file.ts";
import { O_DIRECTORY, O_PATH } from "../linux/open_flags.ts";
import {
  AT_FDCWD,
  openat2,
  RESOLVE_BENEATH,
  RESOLVE_NO_MAGICLINKS,
  RESOLVE_NO_SYMLINKS,
} from "../linux/openat2.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { type FileStat, sameFile, statAt, statFd } from "../linux/statx.ts";
import { refuse } from "./_refusal.ts";

/** An open workspace: the one handle every path is resolved beneath. */
export interface Workspace {
  readonly root: OwnedFd;
  readonly stat: FileStat;
  /** Absolute paths that no operation may touch. */
  readonly protectedPaths: readonly string[];
  /** Mode of a new file: 0o666 without the process's umask. */
  readonly newFileMode: number;
}

/**
 * Opens the root and proves that the kernel can confine: a kernel without `openat2` or one of its
 * flags is refused here, before any file tool exists.
 */
export function openWorkspace(root: string, protectedPaths: readonly string[]): Workspace {
  if (!root.startsWith("/")) refuse("invalid_name", root, "The workspace root must be absolute");
  const fd = openat2(AT_FDCWD, root, { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  try {
    openat2(fd, ".", {
      flags: O_PATH | O_DIRECTORY,
      resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
    }).close();
    refuseProtectedRoot(fd, { root, protectedPaths });
    return { root: fd, stat: statFd(fd), protectedPaths, newFileMode: 0o666 & ~readUmask() };
  } catch (error) {
    fd.close();
    throw error;
  }
}

/** A workspace inside a protected folder would have nothing that may be touched. */
function refuseProtectedRoot(
  fd: OwnedFd,
  options: { readonly root: string; readonly protectedPaths: readonly string[] },
): void {
  const guarded = options.protectedPaths
    .map((path) => statAt(AT_FDCWD, path, { follow: true }))
    .filter((stat) => stat !== null);
  let current = openat2(fd, ".", { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  try {
    for (let stat = statFd(current);;) {
      if (guarded.some((other) => sameFile(other, stat))) refuse("protected_path", options.root);
      const parent = openat2(current, "..", { flags: O_PATH | O_DIRECTORY, resolve: 0 });
      current.close();
      current = parent;
      const above = statFd(parent);
      if (sameFile(above, stat)) return;
      stat = above;
    }
  } finally {
    current.close();
  }
}

/** Used where the kernel does not tell: keeps new files from being writable by others. */
const USUAL_UMASK = 0o022;
const STATUS_BYTES = 4_096;

/** Read from the kernel, since asking `umask` means changing it for every thread. */
function readUmask(): number {
  const status = readKernelFile("/proc/self/status", STATUS_BYTES) ?? "";
  const digits = /^Umask:\s*([0-7]+)/m.exec(status)?.[1];
  return digits === undefined ? USUAL_UMASK : parseInt(digits, 8);
}
