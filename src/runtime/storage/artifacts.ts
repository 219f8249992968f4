import { type Digest, parseDigest } from "../../core/digest.ts";
import type { Artifact } from "../../core/events/event.ts";
import { type ArtifactId, parseId } from "../../core/ids.ts";
import { exists, removeIfThere, syncPath } from "./private_files.ts";
import { fail } from "./storage_failure.ts";
import type { Statements } from "./statements.ts";

/**
 * Largest artifact, in bytes: well above a captured output (2 MiB) and a file Fluzo edits, small
 * enough to pass through the worker whole.
 */
export const MAX_ARTIFACT_BYTES = 32 * 1024 * 1024;

/** End of the name of a file that is not finished. */
export const PART = ".part";

/**
 * Writes a blob so that it is either there whole and durable under its final name or not there:
 * private temporary, fsync, rename, fsync of the directory.
 */
export async function writeArtifact(
  artifactsPath: string,
  { artifact, bytes }: {
    readonly artifact: Omit<Artifact, "digest" | "sizeBytes">;
    readonly bytes: Uint8Array;
  },
): Promise<Artifact> {
  const path = artifactPath(artifactsPath, artifact.id);
  if (bytes.length > MAX_ARTIFACT_BYTES) {
    fail("io", path, `Cannot keep ${bytes.length} bytes: the limit is ${MAX_ARTIFACT_BYTES}`);
  }
  const digest = await sha256(bytes);
  if (exists(path)) fail("io", path, "Cannot write an artifact twice");
  const temporary = path + PART;
  try {
    writeDurably(temporary, bytes);
    Deno.renameSync(temporary, path);
    syncPath(artifactsPath);
  } catch (thrown) {
    removeIfThere(temporary);
    throw thrown;
  }
  return { ...artifact, digest, sizeBytes: bytes.length };
}

/** Reads a recorded blob and checks it; null when the journal has no such artifact. */
export async function readArtifact(
  statements: Statements,
  { artifactsPath, id }: { readonly artifactsPath: string; readonly id: ArtifactId },
): Promise<Uint8Array | null> {
  const row = statements.get("SELECT digest, size_bytes FROM artifacts WHERE id = ?", id);
  if (row === null) return null;
  const path = artifactPath(artifactsPath, id);
  const bytes = readRegularFile(path, row.integer("size_bytes"));
  if (await sha256(bytes) !== row.text("digest")) {
    fail("artifact_damaged", path, "The artifact's content is not what was recorded");
  }
  return bytes;
}

/** Where an artifact is. A file name comes from a parsed id alone, so no text from outside can name another file. */
export function artifactPath(artifactsPath: string, id: string): string {
  const parsed = parseId("artifact", id);
  if (parsed === null) fail("io", artifactsPath, `Cannot name an artifact "${id}"`);
  return `${artifactsPath}/${parsed}`;
}

function writeDurably(path: string, bytes: Uint8Array): void {
  // A leftover of a crash has the same name only if the same id is written again.
  removeIfThere(path);
  using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  let written = 0;
  while (written < bytes.length) written += file.writeSync(bytes.subarray(written));
  file.syncSync();
}

function readRegularFile(path: string, sizeBytes: number): Uint8Array {
  try {
    const info = Deno.lstatSync(path);
    if (!info.isFile) fail("artifact_damaged", path, "The artifact is no regular file");
    if (info.size !== sizeBytes) {
      fail(
        "artifact_damaged",
        path,
        `The artifact has ${info.size} bytes, recorded are ${sizeBytes}`,
      );
    }
    return Deno.readFileSync(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    return fail("artifact_damaged", path, "The artifact's content is missing");
  }
}

async function sha256(bytes: Uint8Array): Promise<Digest> {
  // A copy in a plain ArrayBuffer: the platform's types accept no shared memory.
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  let text = "";
  for (const byte of hash) text += byte.toString(16).padStart(2, "0");
  return parseDigest(text) ?? fail("io", "", "SHA-256 gave no digest");
}
