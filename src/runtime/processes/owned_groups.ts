import type { Timers } from "../../core/clock.ts";

/** How often a group that was told to end is looked at, in milliseconds. */
const POLL_MS = 20;

/** How long a killed group may take to be gone before it is reported as left, in milliseconds. */
const KILL_WAIT_MS = 2000;

/**
 * The process groups this process started and has not seen empty. A group's number stays reserved
 * by the kernel while any member lives, so a group is signalled only between its start and the
 * moment it was seen empty; after that its number is never used again.
 */
export class OwnedGroups {
  readonly #groups = new Set<number>();
  readonly #timers: Timers;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Takes over a group whose leader was just started and is not yet reaped. */
  add(groupId: number): void {
    this.#groups.add(groupId);
  }

  /** Groups that may still have members. */
  get size(): number {
    return this.#groups.size;
  }

  /** Whether any member of the group is left; a group seen empty is forgotten. */
  isAlive(groupId: number): boolean {
    if (!this.#groups.has(groupId)) return false;
    const alive = send(groupId, 0);
    if (!alive) this.#groups.delete(groupId);
    return alive;
  }

  /**
   * Asks a group to end, then kills what is left after the grace. True when the group was seen
   * empty: never assumed.
   */
  async end(groupId: number, graceMs: number): Promise<boolean> {
    if (!this.isAlive(groupId)) return true;
    send(groupId, "SIGTERM");
    if (await this.#gone(groupId, graceMs)) return true;
    send(groupId, "SIGKILL");
    return await this.#gone(groupId, KILL_WAIT_MS);
  }

  /** Ends every group at once. The number of groups that could not be seen empty. */
  async endAll(graceMs: number): Promise<number> {
    const ended = await Promise.all([...this.#groups].map((id) => this.end(id, graceMs)));
    return ended.filter((gone) => !gone).length;
  }

  async #gone(groupId: number, withinMs: number): Promise<boolean> {
    for (let waitedMs = 0; this.isAlive(groupId); waitedMs += POLL_MS) {
      if (waitedMs >= withinMs) return false;
      await new Promise<void>((resolve) => this.#timers.after(POLL_MS, resolve));
    }
    return true;
  }
}

/** Sends a signal to a group; 0 only asks. False when the group has no member that can be reached. */
function send(groupId: number, signal: Deno.Signal | 0): boolean {
  try {
    // Deno types leave the null signal out; kill(2) and the runtime know it.
    Deno.kill(-groupId, signal as Deno.Signal);
    return true;
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return false;
    // EPERM: a member changed its user. It is there, but not ours to end.
    if (failure instanceof Deno.errors.PermissionDenied) return true;
    if (failure instanceof TypeError) return false;
    throw failure;
  }
}
