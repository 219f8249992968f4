import { signalProcess } from "../linux/pidfd.ts";
import { openExactly, type ProcessRow } from "../linux/process_table.ts";

/**
 * Signals processes, each by a handle of exactly it.
 *
 * @param options.groupId A group that is signalled as a whole if one of the targets is in it: that
 * reaches also what is being forked right now. Null: one by one.
 */
export function signalAll(
  targets: readonly ProcessRow[],
  { signal, groupId }: {
    readonly signal: "SIGTERM" | "SIGKILL";
    readonly groupId: number | null;
  },
): void {
  const whole = targets.some(({ group }) => group === groupId) ? groupId : null;
  if (whole !== null) signalGroup(whole, signal);
  for (const row of targets) {
    if (row.group === whole) continue;
    using process = openExactly(row);
    if (process === null) continue;
    signalProcess(process, signal);
    // A stopped process takes a request only once it goes on.
    if (signal === "SIGTERM") signalProcess(process, "SIGCONT");
  }
  if (whole !== null && signal === "SIGTERM") signalGroup(whole, "SIGCONT");
}

/** Whether the kernel knows of a member of the group, ended ones that nobody reaped among them. */
export function isGroupAlive(groupId: number): boolean {
  // Deno types leave the null signal out; kill(2) and the runtime know it.
  return signalGroup(groupId, 0 as unknown as Deno.Signal);
}

/** False when the group has no member. One of another user is there, but takes no signal of ours. */
function signalGroup(groupId: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(-groupId, signal);
    return true;
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return false;
    if (failure instanceof Deno.errors.PermissionDenied) return true;
    throw failure;
  }
}
