/**
 * Permissions of the store worker: the data directory and nothing else. They bind `node:sqlite`
 * too. They follow symbolic links, so the directory has been looked at before.
 *
 * @param copy Directory of a private copy that is read in place of the database, if there is one;
 * then the data directory itself is only read, for its artifacts.
 */
export function storeWorkerPermissions(
  directory: string,
  copy: string | null = null,
): Deno.PermissionOptionsObject {
  return {
    read: copy === null ? [directory] : [directory, copy],
    write: [copy ?? directory],
    env: false,
    ffi: false,
    import: false,
    net: false,
    run: false,
    sys: false,
  };
}
