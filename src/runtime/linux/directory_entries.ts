import { checked } from "./errno.ts";
import { libc } from "./libc.ts";
import type { OwnedFd } from "./owned_fd.ts";
import type { EntryKind } from "./statx.ts";

/** One name in a directory. */
export interface DirectoryEntry {
  readonly name: Uint8Array<ArrayBuffer>;
  readonly inode: bigint;
  /** Null where the file system does not tell; ask `statAt`. */
  readonly kind: EntryKind | null;
}

/** Entries come in batches of this many bytes: about a thousand names a call. */
const BATCH_BYTES = 65_536;
/** Inode 8, offset 8, length 2, type 1; then the name. */
const NAME_OFFSET = 19;

/**
 * Reads the entries of an open directory, without `.` and `..`, in the file system's order.
 * Reads on from the descriptor's position, so each descriptor serves once.
 */
export function* directoryEntries(directory: OwnedFd): Generator<DirectoryEntry, void> {
  // Not shared: a consumer may read another directory between two entries.
  const batch = new Uint8Array(BATCH_BYTES);
  const view = new DataView(batch.buffer);
  for (;;) {
    const length = checked(
      "getdents64",
      libc().getdents64(directory.number, batch, BigInt(batch.length)),
    );
    if (length === 0) return;
    for (let at = 0; at < length;) {
      const size = view.getUint16(at + 16, true);
      const end = batch.indexOf(0, at + NAME_OFFSET);
      const name = batch.slice(at + NAME_OFFSET, end);
      if (!isDots(name)) {
        yield {
          name,
          inode: view.getBigUint64(at, true),
          kind: kindOf(view.getUint8(at + 18)),
        };
      }
      at += size;
    }
  }
}

const DOT = 0x2e;

function isDots(name: Uint8Array): boolean {
  return name[0] === DOT && (name.length === 1 || (name.length === 2 && name[1] === DOT));
}

/** The `DT_*` values. */
function kindOf(type: number): EntryKind | null {
  switch (type) {
    case 0:
      return null;
    case 4:
      return "directory";
    case 8:
      return "file";
    case 10:
      return "link";
    default:
      return "other";
  }
}
