/** Steps of durable file work in the data directory, for the worker that may not use FFI. */

/** Whether something has this name; a link that leads nowhere counts. */
export function exists(path: string): boolean {
  return sizeIfThere(path) !== null;
}

/** Bytes of what has this name; null when nothing has. */
export function sizeIfThere(path: string): number | null {
  try {
    return Deno.lstatSync(path).size;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** Removes a file; that it is not there is no error. */
export function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

/** Makes an empty file that only its user can reach; one with this name is removed before. */
export function makePrivateFile(path: string): void {
  removeIfThere(path);
  Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
}

/** Puts the content of a file, or the names in a folder, onto the disk. */
export function syncPath(path: string): void {
  using opened = Deno.openSync(path);
  opened.syncSync();
}
