import { checked, LinuxError, retried } from "./errno.ts";
import { libc } from "./libc.ts";
import { OwnedFd } from "./owned_fd.ts";

/**
 * Unix stream sockets with the identity of the peer, for the control socket. Through Deno these
 * would need a `net` permission for the exact path and would not say who is calling.
 */

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** A peer that is gone is an error number, not a signal. */
const MSG_NOSIGNAL = 0x4000;
/** The kernel's bound on a socket path, the closing NUL included. */
const SUN_PATH_BYTES = 108;

/** Whether a socket can stand at this path: the kernel has room for 107 bytes. */
export function fitsSocketPath(path: string): boolean {
  const { length } = new TextEncoder().encode(path);
  return length > 0 && length < SUN_PATH_BYTES;
}

/** Who stands at the other end, as the kernel recorded it when the connection was made. */
export interface PeerCredentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Binds and listens on a path that must not exist yet. Accepting never blocks.
 *
 * @param backlog Connections that may wait to be accepted.
 * @throws {LinuxError} EADDRINUSE when the path exists.
 */
export function listenUnix(path: string, backlog: number): OwnedFd {
  const address = addressOf(path);
  return opened(SOCK_NONBLOCK, (fd) => {
    checked("bind", libc().bind(fd.number, address, address.length));
    checked("listen", libc().listen(fd.number, backlog));
  });
}

/** Takes the next waiting connection, or null when none waits. Its calls never block. */
export function acceptUnix(listener: OwnedFd): OwnedFd | null {
  const flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  const number = unlessBlocked(
    "accept4",
    () => libc().accept4(listener.number, null, null, flags),
  );
  return number === null ? null : new OwnedFd(number);
}

/**
 * Connects to a listening socket. Neither this nor calls on the connection ever block.
 *
 * @throws {LinuxError} EAGAIN when too many wait to be accepted there; ECONNREFUSED or ENOENT when
 * nobody listens.
 */
export function connectUnix(path: string): OwnedFd {
  const address = addressOf(path);
  return opened(SOCK_NONBLOCK, (fd) => {
    retried("connect", () => libc().connect(fd.number, address, address.length));
  });
}

/** Sends what fits now. Returns how many bytes went, or null when none fit. */
export function sendSome(fd: OwnedFd, bytes: Uint8Array<ArrayBuffer>): number | null {
  return unlessBlocked(
    "send",
    () => libc().send(fd.number, bytes, BigInt(bytes.length), MSG_NOSIGNAL),
  );
}

/** Receives what is there. Returns the count, 0 at the end, or null when nothing is there yet. */
export function receiveSome(fd: OwnedFd, into: Uint8Array<ArrayBuffer>): number | null {
  return unlessBlocked("recv", () => libc().recv(fd.number, into, BigInt(into.length), 0));
}

/** Says who stands at the other end of a connection. */
export function peerCredentials(connection: OwnedFd): PeerCredentials {
  const credentials = new Uint32Array(3);
  const length = new Uint32Array([credentials.byteLength]);
  checked(
    "getsockopt",
    libc().getsockopt(connection.number, SOL_SOCKET, SO_PEERCRED, credentials, length),
  );
  const [pid = 0, uid = 0, gid = 0] = credentials;
  return { pid, uid, gid };
}

function unlessBlocked(call: string, attempt: () => number): number | null {
  try {
    return retried(call, attempt);
  } catch (error) {
    if (error instanceof LinuxError && error.code === "EAGAIN") return null;
    throw error;
  }
}

function opened(flags: number, prepare: (fd: OwnedFd) => void): OwnedFd {
  const fd = new OwnedFd(
    checked("socket", libc().socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)),
  );
  try {
    prepare(fd);
    return fd;
  } catch (error) {
    fd.close();
    throw error;
  }
}

/** A `sockaddr_un`: the family, the path, a NUL. */
function addressOf(path: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(path);
  if (!fitsSocketPath(path) || bytes.includes(0)) {
    throw new RangeError(
      `Cannot use "${path}" as a socket path: needs 1 to ${SUN_PATH_BYTES - 1} bytes and no NUL`,
    );
  }
  const address = new Uint8Array(2 + bytes.length + 1);
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(bytes, 2);
  return address;
}
