import type { FluzoError } from "../core/errors.ts";
import { err, type Result } from "../core/result.ts";
import type { WorkspaceIdentity } from "./consent/consent_store.ts";
import { RemoteSteering } from "./control/remote_steering.ts";
import type { Steering } from "./control/steering.ts";
import { DATA_DIRECTORY } from "./data_directory_name.ts";
import { openRestingHost } from "./resting_host.ts";
import { systemClock, systemTimers } from "./system_clock.ts";
import { workspaceId } from "./workspace/identity.ts";
import { namesLivingProcess, readOwnerRecord } from "./workspace/owner_record.ts";
import { isOwned } from "./workspace/ownership.ts";

/**
 * How long an owner that begins or ends is waited for, in milliseconds. A start opens its socket
 * well below a second after it took the ownership, and an answer at rest takes as little.
 */
const OWNER_WAIT_MS = 5000;

/** How often it is looked at meanwhile, in milliseconds. */
const LOOK_MS = 20;

/**
 * Finds who can steer the tasks of a workspace: the live owner through its control socket, or this
 * process, which then takes the ownership for a moment.
 */
export async function openSteering(
  { identity, variable }: {
    readonly identity: WorkspaceIdentity;
    readonly variable: (name: string) => string | null | "denied";
  },
): Promise<Result<Steering, FluzoError>> {
  const { root } = identity;
  const untilMs = systemClock.monotonicMs() + OWNER_WAIT_MS;
  while (true) {
    const found = isOwned(`${root}/${DATA_DIRECTORY}`)
      ? await reachOwner(identity)
      : await openRestingHost({ root, variable });
    // Owners come and go: what was true a moment ago need not be true now.
    const passing = !found.ok &&
      (found.error.type === "owner_conflict" ||
        found.error.type === "control" && found.error.reason === "no_owner");
    if (!passing || systemClock.monotonicMs() >= untilMs) return found;
    await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve));
  }
}

/** Connects to the owner that the record names. `no_owner` when it has no socket yet or any more. */
async function reachOwner(identity: WorkspaceIdentity): Promise<Result<Steering, FluzoError>> {
  const record = readOwnerRecord(`${identity.root}/${DATA_DIRECTORY}`);
  if (record === null || !namesLivingProcess(record)) return noOwner("its record is missing");
  const { control, instanceId } = record;
  switch (control.type) {
    case "starting":
      return noOwner(`process ${record.pid} has no control socket yet`);
    case "unavailable":
      return err({ type: "control", reason: "unavailable", detail: control.reason });
    case "listening":
      return await RemoteSteering.open({
        path: control.path,
        instanceId,
        workspaceId: await workspaceId(identity),
        timers: systemTimers,
      }, systemClock);
  }
}

function noOwner(detail: string): Result<never, FluzoError> {
  return err({ type: "control", reason: "no_owner", detail });
}
