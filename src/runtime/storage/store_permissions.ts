/**
 * Permissions of the store worker: the data directory and nothing else. They bind `node:sqlite`
 * too. They follow symbolic links, so the directory has been looked at before.
 */
export function storeWorkerPermissions(directory: string): Deno.PermissionOptionsObject {
  return {
    read: [directory],
    write: [directory],
    env: false,
    ffi: false,
    import: false,
    net: false,
    run: false,
    sys: false,
  };
}
