import { directoryEntries } from "./directory_entries.ts";
import { MAX_KERNEL_FILE_BYTES, readKernelFile } from "./kernel_file.ts";
import { O_DIRECTORY, O_RDONLY } from "./open_flags.ts";
import type { OwnedFd } from "./owned_fd.ts";
import { openProcess } from "./pidfd.ts";
import { AT_FDCWD, openat2, RESOLVE_NO_MAGICLINKS } from "./openat2.ts";

/**
 * The processes of this machine as `/proc` tells them. Each line is read by itself, so a table is
 * no snapshot: a process may begin or end between two lines.
 */

/** One process. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** `ended`: only its entry is left, until its parent takes the exit status. */
  readonly state: "running" | "ended";
  /** When it began, in clock ticks since the boot. */
  readonly startTicks: string;
  /** The kernel's short name of the program, at most 15 bytes. */
  readonly name: string;
}

/** More than any line of `/proc/PID/stat`. */
const MAX_STAT_BYTES = 4096;

/** Bytes of a command line that are read. */
const MAX_COMMAND_BYTES = 1024;

/** Numbers of all processes, in no order. */
export function processIds(): readonly number[] {
  using folder = openat2(AT_FDCWD, "/proc", {
    flags: O_RDONLY | O_DIRECTORY,
    resolve: RESOLVE_NO_MAGICLINKS,
  });
  const decoder = new TextDecoder();
  const ids: number[] = [];
  for (const { name } of directoryEntries(folder)) {
    const text = decoder.decode(name);
    if (/^[0-9]+$/.test(text)) ids.push(Number(text));
  }
  return ids;
}

/** The line of one process, or null when there is none. */
export function readProcess(pid: number): ProcessRow | null {
  const text = readKernelFile(`/proc/${pid}/stat`, MAX_STAT_BYTES);
  return text === null ? null : parseStat(text);
}

/** A handle of exactly this process; null when it is gone, also if its number is another's by now. */
export function openExactly(
  { pid, startTicks }: Pick<ProcessRow, "pid" | "startTicks">,
): OwnedFd | null {
  const process = openProcess(pid);
  if (process === null) return null;
  // The handle pins whoever has the number; who that is, is read after it was taken.
  if (readProcess(pid)?.startTicks === startTicks) return process;
  process.close();
  return null;
}

/** Reads `/proc/PID/stat`. The name stands in parentheses and may hold anything, also `)`. */
export function parseStat(text: string): ProcessRow | null {
  const opened = text.indexOf("(");
  const closed = text.lastIndexOf(")");
  if (opened < 0 || closed < opened) return null;
  const [state = "", parent, group, session, ...rest] = text.slice(closed + 2).split(" ");
  const startTicks = rest[START_TICKS_AFTER_SESSION];
  if (startTicks === undefined) return null;
  return {
    pid: Number(text.slice(0, opened)),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    state: "ZXx".includes(state) ? "ended" : "running",
    startTicks,
    name: text.slice(opened + 1, closed),
  };
}

/** The start is field 22, the session field 6. */
const START_TICKS_AFTER_SESSION = 15;

/**
 * The value of a variable in the environment a process was started with; null when it has none, has
 * ended, or does not let us look.
 */
export function readVariable(pid: number, name: string): string | null {
  const text = readKernelFile(`/proc/${pid}/environ`, MAX_KERNEL_FILE_BYTES);
  if (text === null) return null;
  const found = text.split("\0").find((entry) => entry.startsWith(`${name}=`));
  return found === undefined ? null : found.slice(name.length + 1);
}

/** The words a process was started with, in one line; its short name when it shows none. */
export function commandLine({ pid, name }: Pick<ProcessRow, "pid" | "name">): string {
  const words = readKernelFile(`/proc/${pid}/cmdline`, MAX_COMMAND_BYTES)
    ?.replaceAll("\0", " ").trim() ?? "";
  return words === "" ? name : words;
}
