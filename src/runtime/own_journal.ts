import type { Clock } from "../core/clock.ts";
import type { FluzoError, OwnerConflictError, StorageError } from "../core/errors.ts";
import { FluzoFailure } from "../core/errors.ts";
import type { InstanceId } from "../core/ids.ts";
import { err, ok, type Result } from "../core/result.ts";
import { recordInterrupted } from "./application/recovery.ts";
import { removeAbandonedSocket } from "./control/place.ts";
import type { readTracking } from "./git/repository.ts";
import { randomIds } from "./random_ids.ts";
import { systemTimers } from "./system_clock.ts";
import { openStore, type Store } from "./storage/client.ts";
import { judgeDataDirectory, prepareDataDirectory } from "./storage/data_directory.ts";
import type { WorkspaceFiles } from "./workspace/protocol.ts";
import { WorkspaceOwnership } from "./workspace/ownership.ts";

/** The journal with the right to write it. */
export interface OwnedJournal {
  readonly store: Store;
  readonly ownership: WorkspaceOwnership;
}

/**
 * Takes the ownership of a workspace, opens its journal for writing, and writes down what an
 * earlier process left unfinished.
 *
 * @param options.tracking What Git says of the data directory; nothing is made before it is known.
 * @param options.files For what a killed change left in the workspace; not asked otherwise.
 */
export async function ownJournal(
  { directory, root, tracking, clock, instanceId, files }: {
    readonly directory: string;
    readonly root: string;
    readonly tracking: ReturnType<typeof readTracking>;
    readonly clock: Clock;
    readonly instanceId: InstanceId;
    readonly files: WorkspaceFiles;
  },
): Promise<Result<OwnedJournal, FluzoError>> {
  const claimed = claimDirectory({ directory, root, tracking, clock, instanceId });
  // The worker boots while Git answers; it opens nothing before the directory is claimed.
  const opening = openStore({
    directory,
    mode: "write",
    ownerAlive: () => true,
    permitted: claimed,
  });
  const ownership = await claimed;
  if (!ownership.ok) {
    await opening.close();
    return ownership;
  }
  const store = await opening.opened;
  if (!store.ok) {
    ownership.value.release();
    return store;
  }
  try {
    await recordInterrupted(store.value, {
      clock,
      ids: randomIds(clock),
      files,
      timers: systemTimers,
    });
  } catch (failure) {
    await store.value.close();
    ownership.value.release();
    if (failure instanceof FluzoFailure) return err(failure.error);
    throw failure;
  }
  return ok({ store: store.value, ownership: ownership.value });
}

/** Makes sure that private data may be kept in the directory, and takes the ownership. */
async function claimDirectory(
  { directory, root, tracking, clock, instanceId }: {
    readonly directory: string;
    readonly root: string;
    readonly tracking: ReturnType<typeof readTracking>;
    readonly clock: Clock;
    readonly instanceId: InstanceId;
  },
): Promise<Result<WorkspaceOwnership, StorageError | OwnerConflictError>> {
  const git = await tracking;
  if (!git.ok) {
    const { detail } = git.error;
    return err({ type: "storage", reason: "io", path: directory, detail: `Git says: ${detail}` });
  }
  const unsafe = judgeDataDirectory({
    directory,
    userId: Deno.uid(),
    entries: [],
    git: git.value,
  });
  if (unsafe !== null) return err(unsafe);
  const prepared = prepareDataDirectory(directory);
  if (!prepared.ok) return prepared;
  const acquired = await WorkspaceOwnership.acquire(directory, {
    workspace: root,
    wallMs: clock.wallMs(),
    instanceId,
  });
  if (acquired.ok && acquired.value.abandoned !== null) {
    removeAbandonedSocket(acquired.value.abandoned);
  }
  return acquired;
}
