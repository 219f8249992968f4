/** Why a private file or its folder cannot be trusted; one sentence, with the repair. */
export interface NotPrivate {
  readonly path: string;
  readonly reason: string;
}

/** The content of a private file, or why it is not used; null when there is none. */
export async function readPrivateFile(
  path: string,
  maxBytes: number,
): Promise<{ readonly text: string } | NotPrivate | null> {
  try {
    const info = await Deno.lstat(path);
    const problem = judgePrivate(path, info);
    if (problem !== null) return problem;
    if (info.size > maxBytes) return { path, reason: `it is larger than ${maxBytes} bytes` };
    return { text: await Deno.readTextFile(path) };
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return null;
    throw failure;
  }
}

function judgePrivate(path: string, info: Deno.FileInfo): NotPrivate | null {
  if (info.isSymlink) return { path, reason: "it is a link: replace it with a regular file" };
  if (!info.isFile) return { path, reason: "it is not a regular file" };
  if (info.uid !== null && info.uid !== Deno.uid()) {
    return { path, reason: "it belongs to another user" };
  }
  if (info.mode !== null && (info.mode & 0o077) !== 0) {
    return { path, reason: `others may read it: run \`chmod 600 ${path}\`` };
  }
  return null;
}

/**
 * Writes a private file whole: a temporary of mode 0600 beside it, synced, then renamed over it, so
 * that a crash leaves the old content or the new. Folders that are missing are made 0700.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/"));
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    using file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    for (let offset = 0; offset < bytes.byteLength;) {
      offset += await file.write(bytes.subarray(offset));
    }
    await file.sync();
    await Deno.rename(temporary, path);
  } catch (failure) {
    await Deno.remove(temporary).catch(() => {});
    throw failure;
  }
  using directory = await Deno.open(folder, { read: true });
  await directory.sync();
}
