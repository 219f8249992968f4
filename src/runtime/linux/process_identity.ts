import { readKernelFile } from "./kernel_file.ts";

/** More than any line of `/proc/PID/stat`. */
const MAX_STAT_BYTES = 4096;

/** The start time is field 22; the second field is a name in parentheses that may hold anything. */
const START_FIELD_AFTER_NAME = 19;

/**
 * When a process began, in clock ticks since the boot, or null when there is no such process. With
 * the boot id it tells a process apart from a later one that got the same number.
 */
export function processStartTicks(pid: number): string | null {
  const text = readKernelFile(`/proc/${pid}/stat`, MAX_STAT_BYTES);
  if (text === null) return null;
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[START_FIELD_AFTER_NAME] ?? null;
}

/** What names this boot of the machine; empty where the kernel does not tell. */
export function bootId(): string {
  return readKernelFile("/proc/sys/kernel/random/boot_id", MAX_STAT_BYTES)?.trim() ?? "";
}
