import { type ErrnoCode, LinuxError } from "./errno.ts";
import { readSome } from "./files.ts";
import { O_RDONLY } from "./open_flags.ts";
import { AT_FDCWD, openat2, RESOLVE_NO_MAGICLINKS } from "./openat2.ts";

/** Most bytes that are read of one file: the kernel's usual bound on an environment. */
export const MAX_KERNEL_FILE_BYTES = 1 << 18;

/** Gone, gone between two calls, or another user's. */
const ABSENT: ReadonlySet<ErrnoCode> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

/** One buffer for all of them: each file is read and decoded in one go. */
const scratch = new Uint8Array(MAX_KERNEL_FILE_BYTES);

/**
 * A file below `/proc` that the kernel makes up as it is read, which Deno's own file functions
 * refuse; null when it is not there, not ours, or its process is gone.
 *
 * @param maxBytes Where to stop; at most `MAX_KERNEL_FILE_BYTES`.
 */
export function readKernelFile(path: string, maxBytes: number): string | null {
  try {
    using file = openat2(AT_FDCWD, path, { flags: O_RDONLY, resolve: RESOLVE_NO_MAGICLINKS });
    let length = 0;
    // One read gives at most a page of most of them.
    for (let count = -1; count !== 0 && length < maxBytes;) {
      count = readSome(file, scratch.subarray(length, maxBytes));
      length += count;
    }
    return new TextDecoder().decode(scratch.subarray(0, length));
  } catch (failure) {
    // Anything else, such as no descriptor left, must never pass for a process that is gone.
    if (failure instanceof LinuxError && ABSENT.has(failure.code)) return null;
    throw failure;
  }
}
