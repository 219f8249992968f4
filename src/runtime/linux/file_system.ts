import { cString } from "./_c_string.ts";
import { checked } from "./errno.ts";
import { MAX_KERNEL_FILE_BYTES, readKernelFile } from "./kernel_file.ts";
import { libc } from "./libc.ts";

/** The file system a path is on. */
export interface FileSystem {
  /** As the kernel calls it, for example `ext4`, `nfs4`, `fuse.sshfs`. */
  readonly type: string;
  /** Where it is mounted. */
  readonly mountPoint: string;
  readonly totalBytes: number;
  /** What a user without privileges may still fill. */
  readonly availableBytes: number;
}

/** `struct statfs` of 64-bit Linux; block size, blocks and available blocks are its fields 1, 2, 4. */
const STATFS_BYTES = 120;
const FIELD_BYTES = 8;
const LITTLE = true;

/**
 * Describes the file system of a path.
 *
 * @param path Absolute, exists, without links: mount points are compared by name.
 * @throws {LinuxError} When the path cannot be reached.
 */
export function fileSystemOf(path: string): FileSystem {
  const space = spaceOf(path);
  const mounts = readKernelFile("/proc/self/mountinfo", MAX_KERNEL_FILE_BYTES) ?? "";
  return { ...(findMount(mounts, path) ?? { type: "unknown", mountPoint: "/" }), ...space };
}

/**
 * What a user without privileges may still fill of the file system of a path, in bytes. One system
 * call: cheap enough to ask before every effect.
 *
 * @throws {LinuxError} When the path cannot be reached.
 */
export function availableBytes(path: string): number {
  return spaceOf(path).availableBytes;
}

function spaceOf(path: string): Pick<FileSystem, "totalBytes" | "availableBytes"> {
  const buffer = new Uint8Array(STATFS_BYTES);
  checked("statfs", libc().statfs(cString(path), buffer));
  const view = new DataView(buffer.buffer);
  const field = (index: number): number => Number(view.getBigInt64(index * FIELD_BYTES, LITTLE));
  const blockBytes = field(1);
  return { totalBytes: field(2) * blockBytes, availableBytes: field(4) * blockBytes };
}

/** The mount a path is on: the longest mount point above it, and of equal ones the last. */
export function findMount(
  mountInfo: string,
  path: string,
): Pick<FileSystem, "type" | "mountPoint"> | null {
  let found: Pick<FileSystem, "type" | "mountPoint"> | null = null;
  for (const line of mountInfo.split("\n")) {
    const words = line.split(" ");
    // A variable number of optional fields stands before the dash.
    const type = words[words.indexOf("-") + 1];
    const escaped = words[4];
    if (type === undefined || escaped === undefined) continue;
    const mountPoint = unescapeMount(escaped);
    const folder = mountPoint === "/" ? "/" : `${mountPoint}/`;
    if (path !== mountPoint && !path.startsWith(folder)) continue;
    if (found === null || mountPoint.length >= found.mountPoint.length) {
      found = { type, mountPoint };
    }
  }
  return found;
}

/** The kernel writes space, tab, newline and backslash as three octal digits. */
function unescapeMount(escaped: string): string {
  return escaped.replaceAll(
    /\\([0-7]{3})/g,
    (_, digits: string) => String.fromCharCode(parseInt(digits, 8)),
  );
}

/** Those whose locks and shared memory do not reach every machine that uses them. */
const NETWORK_TYPES: ReadonlySet<string> = new Set([
  "nfs",
  "nfs4",
  "cifs",
  "smb3",
  "smbfs",
  "9p",
  "afs",
  "ceph",
  "fuse.sshfs",
  "fuse.rclone",
  "fuse.s3fs",
  "fuse.glusterfs",
]);

/** Whether a database in write-ahead mode must not be trusted to this type of file system. */
export function isNetworkType(type: string): boolean {
  return NETWORK_TYPES.has(type);
}
