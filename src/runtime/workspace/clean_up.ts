import { FluzoFailure } from "../../core/errors.ts";
import { LinuxError } from "../linux/errno.ts";
import { type Place, syncFd, unlinkAt } from "../linux/files.ts";
import { MAX_FILE_BYTES, readContent } from "./_content.ts";
import { TEMPORARY_PREFIX } from "./_path_parts.ts";
import type { Leftover, UnfinishedChange } from "./protocol.ts";
import { locateForWrite, Location, type Scope } from "./resolve.ts";
import { statAt } from "../linux/statx.ts";

/**
 * Removes the private name of a change whose process was killed, found by the operation's id. What
 * it holds is removed only where nothing can be lost by it: the new content, a content the journal
 * has, or an unfinished copy while the file is still as it was. Anything else stays and is named.
 */
export async function cleanUp(scope: Scope, change: UnfinishedChange): Promise<Leftover> {
  using location = locateIfThere(scope, change.path);
  if (location === null) return { type: "none" };
  const { directory } = location;
  const place: Place = { directory, name: `${TEMPORARY_PREFIX}${change.operationId}` };
  // In the same open folder, which `location` closes.
  const temporary = new Location(directory, place.name, statAt(directory, place.name));
  if (temporary.stat === null) return { type: "none" };
  const folder = change.path.split("/").slice(0, -1);
  const name = [...folder, place.name].join("/");
  if (!await isExpendable(temporary, { change, target: location })) return { type: "kept", name };
  unlinkAt(place);
  syncFd(directory);
  return { type: "removed" };
}

/** The place of the change; null when its folder is gone or was never made. */
function locateIfThere(scope: Scope, path: string): Location | null {
  try {
    return locateForWrite(scope, path);
  } catch (error) {
    if (error instanceof LinuxError && error.code === "ENOENT") return null;
    throw error;
  }
}

async function isExpendable(
  temporary: Location,
  { change, target }: { readonly change: UnfinishedChange; readonly target: Location },
): Promise<boolean> {
  const content = await digestAt(temporary);
  if (content !== null && content === change.after) return true;
  if (content !== null && content === change.before && change.beforeKept) return true;
  // A deletion moves the file itself to the private name; a write puts only its own content there.
  if (change.action === "delete" || change.before === null) return false;
  return await digestAt(target) === change.before;
}

/** The digest of a file, `absent`, or null for what is no readable regular file. */
async function digestAt(location: Location): Promise<UnfinishedChange["before"]> {
  if (location.stat === null) return "absent";
  try {
    const { version } = await readContent(location, { path: "", maxBytes: MAX_FILE_BYTES });
    return version.digest;
  } catch (error) {
    // Not a regular file, or too large to be one of ours.
    if (error instanceof FluzoFailure || error instanceof LinuxError) return null;
    throw error;
  }
}
