import { checked, LinuxError } from "./errno.ts";
import { libc, readErrno } from "./libc.ts";
import { OwnedFd } from "./owned_fd.ts";

/**
 * Handles of processes. A handle means one process for good: when that is gone the number may be
 * given to another, but the handle reaches nobody. It becomes readable when its process has ended.
 */

/** The same numbers on every architecture. */
const SYS_PIDFD_SEND_SIGNAL = 424n;
const SYS_PIDFD_OPEN = 434n;

/** The signals that end, wake and look for a process. */
export const SIGNALS = { SIGKILL: 9, SIGTERM: 15, SIGCONT: 18 } as const;

/** A handle of the process that has this number now; null when none has. Always close-on-exec. */
export function openProcess(pid: number): OwnedFd | null {
  const fd = libc().pidfd_open(SYS_PIDFD_OPEN, BigInt(pid), 0n);
  if (fd >= 0) return new OwnedFd(fd);
  const error = new LinuxError("pidfd_open", readErrno());
  if (error.code === "ESRCH") return null;
  throw error;
}

/** What became of a signal: `forbidden` means that the process has changed its user. */
export type SignalOutcome = "sent" | "gone" | "forbidden";

/** Sends a signal to the process of a handle and to no other. */
export function signalProcess(process: OwnedFd, signal: keyof typeof SIGNALS): SignalOutcome {
  const number = BigInt(SIGNALS[signal]);
  const result = libc().pidfd_send_signal(
    SYS_PIDFD_SEND_SIGNAL,
    BigInt(process.number),
    number,
    null,
    0n,
  );
  if (result >= 0) return "sent";
  const error = new LinuxError("pidfd_send_signal", readErrno());
  if (error.code === "ESRCH") return "gone";
  if (error.code === "EPERM") return "forbidden";
  throw error;
}

const P_PIDFD = 3;
const WNOHANG = 1;
const WEXITED = 4;
/** The size of a `siginfo_t`. */
const SIGINFO_BYTES = 128;

/**
 * Takes the exit status of a child that has ended, so that its entry goes away. True when it was
 * taken, false when it has not ended or is not a child of this process.
 *
 * Never for a child that Deno started: Deno waits for each of those by its number, and would find
 * it gone.
 */
export function reapProcess(process: OwnedFd): boolean {
  const info = new Int32Array(SIGINFO_BYTES / 4);
  const result = libc().waitid(P_PIDFD, process.number, info, WEXITED | WNOHANG);
  if (result < 0) {
    const error = new LinuxError("waitid", readErrno());
    if (error.code === "ECHILD") return false;
    throw error;
  }
  // With WNOHANG success also means "not yet"; only then the signal number is left at 0.
  return info[0] !== 0;
}

const PR_SET_CHILD_SUBREAPER = 36;

/**
 * Makes this process the one that orphans among its descendants get as their parent, instead of the
 * first process of the machine. Their entries stay until `reapProcess`.
 */
export function adoptOrphans(on: boolean): void {
  checked("prctl", libc().prctl(PR_SET_CHILD_SUBREAPER, on ? 1n : 0n, 0n, 0n, 0n));
}
