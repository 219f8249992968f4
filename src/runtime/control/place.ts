import type { InstanceId } from "../../core/ids.ts";
import { fitsSocketPath } from "../linux/unix_socket.ts";
import type { OwnerRecord } from "../workspace/owner_record.ts";

/** Folder of the sockets below the user's runtime folder. */
const RUNTIME_FOLDER = "fluzo";

/** Folder of the sockets in the data directory. */
const DATA_FOLDER = "control";

/** Any access of group or others. */
const SHARED_BITS = 0o077;

/** Where sockets may stand. */
export interface PlaceOptions {
  /** `XDG_RUNTIME_DIR`; null when it is not set. */
  readonly runtimeDirectory: string | null;
  /** The private data directory of the workspace; it exists. */
  readonly dataDirectory: string;
}

/**
 * Paths where the socket of an owner may be bound, the best first, each in a private folder that is
 * there now. The user's runtime folder is local, short and emptied at logout; a data directory may
 * be on a file system without sockets or too deep for the kernel's 107 bytes; the last resort is a
 * folder of the user's own below `/tmp`, used only if nobody else has made it.
 */
export function* socketPaths(
  { runtimeDirectory, dataDirectory }: PlaceOptions,
  instanceId: InstanceId,
): Generator<string> {
  const folders: string[] = [];
  if (runtimeDirectory?.startsWith("/") === true && isPrivateFolder(runtimeDirectory)) {
    folders.push(`${runtimeDirectory}/${RUNTIME_FOLDER}`);
  }
  folders.push(`${dataDirectory}/${DATA_FOLDER}`, `/tmp/${RUNTIME_FOLDER}-${Deno.uid()}`);
  for (const folder of folders) {
    const path = `${folder}/${socketName(instanceId)}`;
    if (fitsSocketPath(path) && makePrivateFolder(folder)) yield path;
  }
}

/** Why a socket that a record names is not used; null when it is private to this user. */
export function whyNotPrivate(path: string): "missing" | "not_private" | null {
  try {
    const folder = Deno.lstatSync(path.slice(0, path.lastIndexOf("/")));
    const socket = Deno.lstatSync(path);
    const privately = isOwnAndPrivate(folder) && folder.isDirectory &&
      isOwnAndPrivate(socket) && socket.isSocket === true;
    return privately ? null : "not_private";
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return "missing";
    if (failure instanceof Deno.errors.PermissionDenied) return "not_private";
    if (failure instanceof Deno.errors.NotADirectory) return "not_private";
    throw failure;
  }
}

/**
 * Removes the socket of an owner that is gone, if that is what stands there: the record is only a
 * hint, so nothing but a private socket with that owner's own name is touched.
 */
export function removeAbandonedSocket({ instanceId, control }: OwnerRecord): void {
  if (control.type !== "listening") return;
  const { path } = control;
  if (!path.endsWith(`/${socketName(instanceId)}`) || whyNotPrivate(path) !== null) return;
  removeSocket(path);
}

/** Removes a socket; one that is gone already is as good. */
export function removeSocket(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (failure) {
    if (!(failure instanceof Deno.errors.NotFound)) throw failure;
  }
}

function socketName(instanceId: InstanceId): string {
  return `${instanceId}.sock`;
}

function makePrivateFolder(path: string): boolean {
  try {
    Deno.mkdirSync(path, { mode: 0o700 });
  } catch (failure) {
    // There already, or cannot be made: looking tells.
    if (!(failure instanceof Error)) throw failure;
  }
  return isPrivateFolder(path);
}

function isPrivateFolder(path: string): boolean {
  try {
    const info = Deno.lstatSync(path);
    return info.isDirectory && isOwnAndPrivate(info);
  } catch (failure) {
    if (failure instanceof Error) return false;
    throw failure;
  }
}

function isOwnAndPrivate({ uid, mode }: Deno.FileInfo): boolean {
  return uid === Deno.uid() && mode !== null && (mode & SHARED_BITS) === 0;
}
