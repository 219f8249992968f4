import type { Clock, Timers } from "../../core/clock.ts";
import { resolveExecutable } from "../processes/resolve_executable.ts";
import { Git } from "./git_command.ts";

/** Git for a folder; null when the program is not installed. Whether it is a repository comes later. */
export async function openGit(
  { root, variable, timers, clock }: {
    readonly root: string;
    readonly variable: (name: string) => string | null | "denied";
    readonly timers: Timers;
    readonly clock: Clock;
  },
): Promise<Git | null> {
  const path = readable(variable("PATH")) ?? "/usr/local/bin:/usr/bin:/bin";
  const found = await resolveExecutable("git", { path, cwd: root });
  if (!found.ok) return null;
  const home = readable(variable("HOME")) ?? "/";
  return new Git({ executable: found.value, root, path, home, timers, clock });
}

function readable(value: string | null | "denied"): string | null {
  return value === "denied" ? null : value;
}
