import { cString } from "./_c_string.ts";
import { LinuxError } from "./errno.ts";
import { libc, readErrno } from "./libc.ts";
import { O_CLOEXEC } from "./open_flags.ts";
import { OwnedFd } from "./owned_fd.ts";

/**
 * `openat2`: the kernel resolves a path beneath a directory and refuses what leaves it, in one step,
 * so there is no moment between a check and an open. Needs Linux 5.6.
 */

/** Fail with EXDEV when any step of the resolution would leave the directory. */
export const RESOLVE_BENEATH = 0x08;
/** Fail with ELOOP on links that the kernel makes, such as `/proc/self/root`. */
export const RESOLVE_NO_MAGICLINKS = 0x02;
/** Fail with ELOOP on any symbolic link, in any component. */
export const RESOLVE_NO_SYMLINKS = 0x04;

/** The working directory of the process, for an absolute path. */
export const AT_FDCWD = -100;

/** The same number on every architecture. */
const SYS_OPENAT2 = 437n;
/** Three 64-bit fields: flags, mode, resolve. */
const HOW_BYTES = 24n;
/**
 * EAGAIN means that a rename or mount somewhere raced with the resolution of `..`; the kernel asks
 * for another try. Bounded, since somebody renaming in a loop must not hold the worker.
 */
const MAX_TRIES = 128;

export interface OpenHow {
  /** `O_*` flags; `O_CLOEXEC` is always added. */
  readonly flags: number;
  /** Permission bits of a file that is created. Default 0. */
  readonly mode?: number;
  /** `RESOLVE_*` flags. */
  readonly resolve: number;
}

const how = new BigUint64Array(3);

/**
 * Opens `path` relative to `directory`.
 *
 * @throws {LinuxError} ENOSYS on a kernel without the call, E2BIG or EINVAL where it lacks a flag.
 */
export function openat2(
  directory: OwnedFd | typeof AT_FDCWD,
  path: string | Uint8Array,
  options: OpenHow,
): OwnedFd {
  const at = BigInt(directory === AT_FDCWD ? AT_FDCWD : directory.number);
  const name = cString(path);
  for (let tries = 1;; tries++) {
    how[0] = BigInt(options.flags | O_CLOEXEC);
    how[1] = BigInt(options.mode ?? 0);
    how[2] = BigInt(options.resolve);
    const fd = libc().openat2(SYS_OPENAT2, at, name, how, HOW_BYTES);
    if (fd >= 0) return new OwnedFd(fd);
    const error = new LinuxError("openat2", readErrno());
    const again = error.code === "EAGAIN" || error.code === "EINTR";
    if (!again || tries >= MAX_TRIES) throw error;
  }
}
