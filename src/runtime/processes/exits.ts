import type { Timers } from "../../core/clock.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { Poller } from "../linux/poller.ts";

/** Waits in the kernel until all processes have ended, the time is up, or `force` is aborted. */
export async function allEnded(
  processes: readonly OwnedFd[],
  { withinMs, force, timers }: {
    readonly withinMs: number;
    readonly force: AbortSignal;
    readonly timers: Timers;
  },
): Promise<void> {
  if (processes.length === 0 || force.aborted || withinMs <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = (): void => resolve();
  const poller = new Poller(finish);
  let open = processes.length;
  for (const process of processes) {
    const watch = poller.watch(process, () => {
      watch.end();
      if (--open === 0) finish();
    });
  }
  const cancel = timers.after(withinMs, finish);
  force.addEventListener("abort", finish, { once: true });
  try {
    await promise;
  } finally {
    cancel();
    force.removeEventListener("abort", finish);
    await poller.close();
  }
}
