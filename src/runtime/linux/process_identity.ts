import { LinuxError } from "./errno.ts";
import { readSome } from "./files.ts";
import { O_RDONLY } from "./open_flags.ts";
import { AT_FDCWD, openat2, RESOLVE_NO_MAGICLINKS } from "./openat2.ts";

/** More than any line of `/proc/PID/stat`. */
const MAX_STAT_BYTES = 4096;

/** The start time is field 22; the second field is a name in parentheses that may hold anything. */
const START_FIELD_AFTER_NAME = 19;

/**
 * When a process began, in clock ticks since the boot, or null when there is no such process. With
 * the boot id it tells a process apart from a later one that got the same number.
 */
export function processStartTicks(pid: number): string | null {
  const text = readSmall(`/proc/${pid}/stat`);
  if (text === null) return null;
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[START_FIELD_AFTER_NAME] ?? null;
}

/** What names this boot of the machine; empty where the kernel does not tell. */
export function bootId(): string {
  return readSmall("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/** A small file of the kernel; null when it is not there or its process is gone. */
function readSmall(path: string): string | null {
  try {
    using file = openat2(AT_FDCWD, path, { flags: O_RDONLY, resolve: RESOLVE_NO_MAGICLINKS });
    const bytes = new Uint8Array(MAX_STAT_BYTES);
    return new TextDecoder().decode(bytes.subarray(0, readSome(file, bytes)));
  } catch (failure) {
    // A process that ended between the two calls answers ESRCH, which no caller tells apart.
    if (failure instanceof LinuxError) return null;
    throw failure;
  }
}
