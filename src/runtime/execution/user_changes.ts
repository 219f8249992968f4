import type { Baseline } from "../../core/events/event.ts";
import type { UserChanges } from "../tools/effects.ts";

/**
 * What the user had changed before the task. A folder that Git does not track yet stands for
 * everything below it, and a baseline that could not hold everything makes every path suspect.
 *
 * @param own Paths that hold what an earlier attempt of the task wrote: no change of the user.
 */
export function userChangesOf(baseline: Baseline, own: ReadonlySet<string>): UserChanges {
  const exact = new Map(baseline.entries.map((entry) => [entry.path, entry]));
  const folders = baseline.entries.filter(({ path }) => path.endsWith("/"));
  return {
    at: (path) => {
      const known = exact.get(path);
      if (known !== undefined) return known.change;
      if (own.has(path)) return "none";
      if (folders.some((folder) => path.startsWith(folder.path))) return "untracked";
      return baseline.truncated ? "modified" : "none";
    },
    versionAt: (path) => exact.get(path)?.digest ?? null,
  };
}
