import { cString } from "./_c_string.ts";
import { checked, isAbsence, LinuxError } from "./errno.ts";
import { libc, readErrno } from "./libc.ts";
import { AT_FDCWD } from "./openat2.ts";
import type { OwnedFd } from "./owned_fd.ts";

/** What a directory entry is. `other` covers pipes, sockets and devices. */
export type EntryKind = "file" | "directory" | "link" | "other";

/** What the kernel says of a file. */
export interface FileStat {
  readonly kind: EntryKind;
  /** Permission bits with set-id and sticky, for example 0o644. */
  readonly mode: number;
  /** Major and minor number of the device, in one number. */
  readonly device: number;
  readonly inode: bigint;
  /** Names that lead to this file. */
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  readonly sizeBytes: number;
  /**
   * Nanoseconds since the epoch when content or attributes changed last. Nobody can set it back, as
   * one can the time of the content.
   */
  readonly changeTimeNs: bigint;
  /** Nanoseconds since the epoch; 0 where the file system does not record it. */
  readonly birthTimeNs: bigint;
}

const AT_EMPTY_PATH = 0x1000;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BTIME = 0x800;
/** The basic fields and the birth time. */
const STATX_BASIC_AND_BTIME = 0x7ff | STATX_BTIME;
const STATX_BYTES = 256;
/** Room for the 20 bits of a minor number. */
const MINOR_RANGE = 0x100000;

const buffer = new Uint8Array(STATX_BYTES);
const view = new DataView(buffer.buffer);
const EMPTY = cString("");

/** Describes an open file. */
export function statFd(fd: OwnedFd): FileStat {
  checked("statx", libc().statx(fd.number, EMPTY, AT_EMPTY_PATH, STATX_BASIC_AND_BTIME, buffer));
  return decode();
}

/** Where a name is looked up and whether a link there is followed. */
export interface StatOptions {
  /** Default false: a link is described itself. */
  readonly follow?: boolean;
}

/**
 * Describes the entry `name` of a directory, or null when there is none. Absence is an ordinary
 * answer here, so it costs no exception.
 */
export function statAt(
  directory: OwnedFd | typeof AT_FDCWD,
  name: string | Uint8Array,
  options: StatOptions = {},
): FileStat | null {
  const at = directory === AT_FDCWD ? AT_FDCWD : directory.number;
  const flags = options.follow === true ? 0 : AT_SYMLINK_NOFOLLOW;
  if (libc().statx(at, cString(name), flags, STATX_BASIC_AND_BTIME, buffer) >= 0) return decode();
  const errno = readErrno();
  if (isAbsence(errno)) return null;
  throw new LinuxError("statx", errno);
}

/** True when both describe the same file of the same device. */
export function sameFile(
  a: Pick<FileStat, "device" | "inode">,
  b: Pick<FileStat, "device" | "inode">,
): boolean {
  return a.inode === b.inode && a.device === b.device;
}

const LITTLE = true;

function decode(): FileStat {
  const mode = view.getUint16(28, LITTLE);
  const hasBirth = (view.getUint32(0, LITTLE) & STATX_BTIME) !== 0;
  return {
    kind: kindOf(mode),
    mode: mode & 0o7777,
    device: view.getUint32(136, LITTLE) * MINOR_RANGE + view.getUint32(140, LITTLE),
    inode: view.getBigUint64(32, LITTLE),
    links: view.getUint32(16, LITTLE),
    uid: view.getUint32(20, LITTLE),
    gid: view.getUint32(24, LITTLE),
    sizeBytes: Number(view.getBigUint64(40, LITTLE)),
    changeTimeNs: timeAt(96),
    birthTimeNs: hasBirth ? timeAt(80) : 0n,
  };
}

/** A `struct statx_timestamp` in nanoseconds. */
function timeAt(offset: number): bigint {
  const seconds = view.getBigInt64(offset, LITTLE);
  return seconds * 1_000_000_000n + BigInt(view.getUint32(offset + 8, LITTLE));
}

function kindOf(mode: number): EntryKind {
  switch (mode & 0o170000) {
    case 0o100000:
      return "file";
    case 0o040000:
      return "directory";
    case 0o120000:
      return "link";
    default:
      return "other";
  }
}
