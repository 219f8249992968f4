import { cString } from "./_c_string.ts";
import { checked, retried } from "./errno.ts";
import { libc } from "./libc.ts";
import { AT_FDCWD } from "./openat2.ts";
import type { OwnedFd } from "./owned_fd.ts";

/** Reading and writing of open files. Each function throws a `LinuxError` that names its call. */

/** Reads at most `into.length` bytes at the file's position. Returns the count; 0 at the end. */
export function readSome(fd: OwnedFd, into: Uint8Array<ArrayBuffer>): number {
  return retried("read", () => libc().read(fd.number, into, BigInt(into.length)));
}

/** Like `readSome` at a given offset, leaving the position alone. */
export function readAt(
  fd: OwnedFd,
  into: Uint8Array<ArrayBuffer>,
  options: { readonly offsetBytes: number },
): number {
  return retried(
    "pread",
    () => libc().pread(fd.number, into, BigInt(into.length), BigInt(options.offsetBytes)),
  );
}

/** Writes all of `bytes` at the file's position, in as many calls as that takes. */
export function writeAll(fd: OwnedFd, bytes: Uint8Array<ArrayBuffer>): void {
  for (let done = 0; done < bytes.length;) {
    const rest = bytes.subarray(done);
    done += retried("write", () => libc().write(fd.number, rest, BigInt(rest.length)));
  }
}

/** Waits until content and metadata of a file or directory are on the disk. */
export function syncFd(fd: OwnedFd): void {
  retried("fsync", () => libc().fsync(fd.number));
}

/** Sets the permission bits. */
export function setMode(fd: OwnedFd, mode: number): void {
  checked("fchmod", libc().fchmod(fd.number, mode));
}

/** Sets owner and group. */
export function setOwner(
  fd: OwnedFd,
  owner: { readonly uid: number; readonly gid: number },
): void {
  checked("fchown", libc().fchown(fd.number, owner.uid, owner.gid));
}

/** Fail with EEXIST instead of replacing what stands at the new name. */
const RENAME_NOREPLACE = 1;
/** Swap the two names in one step; both must exist. */
const RENAME_EXCHANGE = 2;

/** One end of a rename: a name in an open directory. */
export interface Place {
  readonly directory: OwnedFd;
  readonly name: string;
}

/** Moves an entry to a name that must be free. */
export function renameNoReplace(from: Place, to: Place): void {
  rename(from, { to, flags: RENAME_NOREPLACE });
}

/** Swaps two entries atomically. */
export function exchange(a: Place, b: Place): void {
  rename(a, { to: b, flags: RENAME_EXCHANGE });
}

function rename(from: Place, options: { readonly to: Place; readonly flags: number }): void {
  const { to, flags } = options;
  checked(
    "renameat2",
    libc().renameat2(
      from.directory.number,
      cString(from.name),
      to.directory.number,
      cString(to.name),
      flags,
    ),
  );
}

const AT_REMOVEDIR = 0x200;

/** Removes a name that is not a directory. */
export function unlinkAt(place: Place): void {
  checked("unlinkat", libc().unlinkat(place.directory.number, cString(place.name), 0));
}

/** Removes an empty directory. */
export function removeDirectoryAt(place: Place): void {
  checked("unlinkat", libc().unlinkat(place.directory.number, cString(place.name), AT_REMOVEDIR));
}

/** Makes a directory; the process's umask applies. */
export function makeDirectoryAt(place: Place, mode: number): void {
  checked("mkdirat", libc().mkdirat(place.directory.number, cString(place.name), mode));
}

/** The kernel's own bound on a path. */
const PATH_MAX = 4096;
const linkBuffer = new Uint8Array(PATH_MAX);

/** The bytes a symbolic link holds. */
export function readLinkAt(
  directory: OwnedFd | typeof AT_FDCWD,
  name: string | Uint8Array,
): Uint8Array<ArrayBuffer> {
  const at = directory === AT_FDCWD ? AT_FDCWD : directory.number;
  const length = checked(
    "readlinkat",
    libc().readlinkat(at, cString(name), linkBuffer, BigInt(PATH_MAX)),
  );
  return linkBuffer.slice(0, length);
}
