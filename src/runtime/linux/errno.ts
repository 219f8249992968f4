import { readErrno } from "./libc.ts";

/**
 * The kernel's error numbers as one typed error, here and nowhere else. The numbers are those of
 * the generic Linux table, which x86_64 and aarch64 share.
 */

const NAMES = {
  1: "EPERM",
  2: "ENOENT",
  3: "ESRCH",
  4: "EINTR",
  5: "EIO",
  6: "ENXIO",
  7: "E2BIG",
  9: "EBADF",
  10: "ECHILD",
  11: "EAGAIN",
  12: "ENOMEM",
  13: "EACCES",
  16: "EBUSY",
  17: "EEXIST",
  18: "EXDEV",
  19: "ENODEV",
  20: "ENOTDIR",
  21: "EISDIR",
  22: "EINVAL",
  23: "ENFILE",
  24: "EMFILE",
  26: "ETXTBSY",
  27: "EFBIG",
  28: "ENOSPC",
  30: "EROFS",
  31: "EMLINK",
  32: "EPIPE",
  36: "ENAMETOOLONG",
  38: "ENOSYS",
  39: "ENOTEMPTY",
  40: "ELOOP",
  75: "EOVERFLOW",
  95: "EOPNOTSUPP",
  98: "EADDRINUSE",
  103: "ECONNABORTED",
  104: "ECONNRESET",
  111: "ECONNREFUSED",
  116: "ESTALE",
  122: "EDQUOT",
} as const;

/** The name of an error number; `OTHER` for one that no caller tells apart. */
export type ErrnoCode = (typeof NAMES)[keyof typeof NAMES] | "OTHER";

/** A call of the C library that failed. */
export class LinuxError extends Error {
  override readonly name = "LinuxError";
  /** The function, for example `openat2`. */
  readonly call: string;
  readonly code: ErrnoCode;
  readonly errno: number;

  constructor(call: string, errno: number) {
    const code = codeOf(errno);
    super(`Cannot complete "${call}": ${code === "OTHER" ? `error ${errno}` : code}`);
    this.call = call;
    this.code = code;
    this.errno = errno;
  }
}

function codeOf(errno: number): ErrnoCode {
  return (NAMES as Readonly<Record<number, ErrnoCode>>)[errno] ?? "OTHER";
}

/** True for the error numbers that say a path leads to nothing. Costs no exception. */
export function isAbsence(errno: number): boolean {
  const code = codeOf(errno);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Passes a result through, or throws the `LinuxError` of a call that returned -1. */
export function checked(call: string, result: number): number {
  if (result >= 0) return result;
  throw new LinuxError(call, readErrno());
}

/** Times a call interrupted by a signal is tried again before EINTR is reported. */
const MAX_INTERRUPTIONS = 100;

/** Like `checked`, and repeats the call while a signal interrupts it. */
export function retried(call: string, attempt: () => number): number {
  for (let tries = 0;; tries++) {
    const result = attempt();
    if (result >= 0) return result;
    const error = new LinuxError(call, readErrno());
    if (error.code !== "EINTR" || tries >= MAX_INTERRUPTIONS) throw error;
  }
}
