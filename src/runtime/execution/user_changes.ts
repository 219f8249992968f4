import type { Baseline } from "../../core/events/event.ts";
import type { OperationScope } from "../../core/policy/scope.ts";

type UserChange = Extract<OperationScope, { type: "file" }>["userChange"];

/**
 * What the user had changed at a path before the task. A folder that Git does not track yet stands
 * for everything below it, and a baseline that could not hold everything makes every path suspect.
 */
export function userChangeLookup(baseline: Baseline): (path: string) => UserChange {
  const exact = new Map(baseline.entries.map(({ path, change }) => [path, change]));
  const folders = baseline.entries.filter(({ path }) => path.endsWith("/"));
  return (path) => {
    const known = exact.get(path);
    if (known !== undefined) return known;
    if (folders.some((folder) => path.startsWith(folder.path))) return "untracked";
    return baseline.truncated ? "modified" : "none";
  };
}
