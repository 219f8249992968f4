import { CONFIG_FILE } from "./load.ts";

/** Folders looked at on the way up: deeper nesting than any real project. */
const MAX_LEVELS = 256;

/**
 * The workspace root for a folder: the nearest folder at or above it that holds a regular `.fluzo`
 * file or is the top of a Git working tree (`.git` as a folder or, in a linked tree, a file). With
 * neither, the folder itself. Nothing is walked downwards.
 */
export async function findWorkspaceRoot(folder: string): Promise<string> {
  let current = await Deno.realPath(folder);
  const start = current;
  for (let level = 0; level < MAX_LEVELS; level++) {
    if (await isRoot(current)) return current;
    const parent = current.slice(0, current.lastIndexOf("/")) || "/";
    if (parent === current) break;
    current = parent;
  }
  return start;
}

async function isRoot(folder: string): Promise<boolean> {
  const base = folder === "/" ? "" : folder;
  const [config, git] = await Promise.all([look(`${base}/${CONFIG_FILE}`), look(`${base}/.git`)]);
  return config?.isFile === true || git !== null;
}

async function look(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (failure) {
    if (
      failure instanceof Deno.errors.NotFound || failure instanceof Deno.errors.NotADirectory ||
      failure instanceof Deno.errors.PermissionDenied
    ) return null;
    throw failure;
  }
}
