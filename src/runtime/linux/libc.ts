/**
 * The one door to the C library. Every `Deno.dlopen` of the program is here, with one declared
 * symbol table, so a single absolute path is all the `ffi` permission an isolate needs.
 *
 * Only buffers go in and out: pointer views need unrestricted ffi. Results that are a C `long` or
 * `ssize_t` are declared `i32`, which is exact as long as no call moves 2 GiB or more, and keeps
 * the call on the fast path. File descriptors made here are unknown to Deno and to `node:fs`.
 */

/** Where glibc lives: Arch and merged-usr systems first, then the multi-arch folders, then Fedora. */
export const LIBC_CANDIDATES: readonly string[] = [
  "/usr/lib/libc.so.6",
  "/lib/x86_64-linux-gnu/libc.so.6",
  "/lib/aarch64-linux-gnu/libc.so.6",
  "/usr/lib64/libc.so.6",
  "/lib64/libc.so.6",
];

const SYMBOLS = {
  memcpy: { parameters: ["buffer", "pointer", "usize"], result: "pointer" },
  __errno_location: { parameters: [], result: "pointer" },
  // glibc has no wrapper for openat2: syscall(number, dirfd, path, how, size).
  openat2: {
    name: "syscall",
    parameters: ["i64", "i64", "buffer", "buffer", "usize"],
    result: "i32",
  },
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  pread: { parameters: ["i32", "buffer", "usize", "i64"], result: "i32" },
  write: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  statx: { parameters: ["i32", "buffer", "i32", "u32", "buffer"], result: "i32" },
  fsync: { parameters: ["i32"], result: "i32" },
  statfs: { parameters: ["buffer", "buffer"], result: "i32" },
  getdents64: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  readlinkat: { parameters: ["i32", "buffer", "buffer", "usize"], result: "i32" },
  renameat2: { parameters: ["i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
  unlinkat: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  mkdirat: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  fchmod: { parameters: ["i32", "u32"], result: "i32" },
  fchown: { parameters: ["i32", "u32", "u32"], result: "i32" },
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  accept4: { parameters: ["i32", "pointer", "pointer", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "i32" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "i32" },
  eventfd: { parameters: ["u32", "i32"], result: "i32" },
  // Waits in a thread of its own, so its errno cannot be read: it belongs to that thread.
  poll: { parameters: ["buffer", "usize", "i32"], result: "i32", nonblocking: true },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  waitid: { parameters: ["i32", "u32", "buffer", "i32"], result: "i32" },
  // The C library has these two only since 2.36: syscall(number, …) works on every one.
  pidfd_open: { name: "syscall", parameters: ["i64", "i64", "u64"], result: "i32" },
  pidfd_send_signal: {
    name: "syscall",
    parameters: ["i64", "i64", "i64", "pointer", "u64"],
    result: "i32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The functions of the C library, by name. */
export type Libc = Deno.StaticForeignLibraryInterface<typeof SYMBOLS>;

let loaded: Libc | null = null;

/**
 * The library of this isolate, opened at first use and kept until the isolate ends.
 *
 * @throws {Deno.errors.NotSupported} When no candidate exists, lacks a symbol or is not permitted.
 */
export function libc(): Libc {
  return loaded ??= open();
}

function open(): Libc {
  const failures: string[] = [];
  for (const path of LIBC_CANDIDATES) {
    try {
      return Deno.dlopen(path, SYMBOLS).symbols;
    } catch (cause) {
      failures.push(cause instanceof Error ? cause.message : String(cause));
    }
  }
  throw new Deno.errors.NotSupported(`Cannot open the C library: ${failures.join("; ")}`);
}

/**
 * The absolute path an isolate must be given as its `ffi` permission, or null when this system has
 * none of the candidates or this isolate may not open it.
 */
export function findLibcPath(): string | null {
  for (const path of LIBC_CANDIDATES) {
    try {
      Deno.dlopen(path, {}).close();
      return path;
    } catch {
      // Not here, or not permitted: the next candidate may be.
    }
  }
  return null;
}

const errnoBytes = new Int32Array(1);

/** The C `errno` of this thread. Meaningful only straight after a call that returned -1. */
export function readErrno(): number {
  const symbols = libc();
  symbols.memcpy(errnoBytes, symbols.__errno_location(), 4n);
  return errnoBytes[0] ?? 0;
}
