import { type Digest, parseDigest } from "../../core/digest.ts";
import { readSome } from "../linux/files.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import type { FileStat } from "../linux/statx.ts";
import type { FileVersion } from "./protocol.ts";
import { refuse } from "./_refusal.ts";
import { type Location, openRegular, requireRegular } from "./resolve.ts";

/** Larger files are not text a model works on; a digest needs the whole content. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The version of a file that exists. */
export type PresentVersion = Extract<FileVersion, { readonly state: "file" }>;

/** A whole file with the version its bytes have. */
export interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly stat: FileStat;
  readonly version: PresentVersion;
}

/** Reads the regular file of a location. */
export async function readContent(
  location: Location,
  options: { readonly path: string; readonly maxBytes: number },
): Promise<FileContent> {
  requireRegular(location.stat, options.path);
  const { fd, stat } = openRegular(location.directory, location.name, options.path);
  using file = fd;
  const bytes = readWhole(file, { ...options, sizeBytes: stat.sizeBytes });
  return { bytes, stat, version: await versionOf(bytes, stat.mode) };
}

/** Reads an open file to its end; refuses when there is more than `maxBytes`. */
export function readWhole(
  fd: OwnedFd,
  options: { readonly path: string; readonly maxBytes: number; readonly sizeBytes: number },
): Uint8Array<ArrayBuffer> {
  const { path, maxBytes, sizeBytes } = options;
  if (sizeBytes > maxBytes) refuseTooLarge(path, { sizeBytes, maxBytes });
  // One byte more than expected, so that a single read also proves the end.
  let buffer = new Uint8Array(sizeBytes + 1);
  let length = 0;
  for (;;) {
    const count = readSome(fd, buffer.subarray(length));
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > maxBytes) refuseTooLarge(path, { sizeBytes: length, maxBytes });
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.max(length * 2, 65_536));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

function refuseTooLarge(
  path: string,
  size: { readonly sizeBytes: number; readonly maxBytes: number },
): never {
  refuse("too_large", path, `${size.sizeBytes} bytes, of at most ${size.maxBytes}`);
}

/** The version that a file with these bytes has. */
export async function versionOf(
  bytes: Uint8Array<ArrayBuffer>,
  mode: number,
): Promise<PresentVersion> {
  return { state: "file", digest: await digestOf(bytes), sizeBytes: bytes.length, mode };
}

/** The SHA-256 of the bytes. */
export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<Digest> {
  // Web Crypto and not node:crypto, which would add 17 ms to the start of the worker.
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const digest = parseDigest(hash.toHex());
  if (digest === null) throw new TypeError("Cannot read the digest of the platform");
  return digest;
}
