import type { Digest } from "../../core/digest.ts";
import type { OperationDetail } from "../../core/port/read_models.ts";
import type { FirstVersion } from "./attempt.ts";

/** What the attempts of a task so far did to files. */
export interface OwnChanges {
  /** Content before the task's first change, by path. */
  readonly firstVersions: ReadonlyMap<string, FirstVersion>;
  /**
   * What a path holds if nobody else touched it since. An operation with an unknown outcome adds
   * what it would have left.
   */
  readonly lastVersions: ReadonlyMap<string, readonly (Digest | "absent")[]>;
}

/** Puts together the changes of a task from its operations, in their order. */
export function ownChanges(operations: readonly OperationDetail[]): OwnChanges {
  const firstVersions = new Map<string, FirstVersion>();
  const lastVersions = new Map<string, readonly (Digest | "absent")[]>();
  for (const operation of operations) {
    const { scope, outcome, state, before, after, preImage } = operation;
    const settled = outcome === "interrupted" && state === "known_result";
    const uncertain = state === "unknown" || settled;
    if (scope.type !== "file" || !(outcome === "ok" || uncertain)) continue;
    const left = scope.to === null ? after : "absent";
    if (!firstVersions.has(scope.path)) {
      firstVersions.set(
        scope.path,
        before === "absent" || (preImage === null && scope.action === "rename")
          ? { type: "absent" }
          : preImage === null
          ? { type: "withheld" }
          : { type: "kept", artifact: preImage },
      );
    }
    note(lastVersions, { path: scope.path, version: left, uncertain });
    if (scope.to === null) continue;
    if (!firstVersions.has(scope.to)) firstVersions.set(scope.to, { type: "absent" });
    note(lastVersions, { path: scope.to, version: after, uncertain });
  }
  return { firstVersions, lastVersions };
}

function note(
  versions: Map<string, readonly (Digest | "absent")[]>,
  { path, version, uncertain }: {
    readonly path: string;
    readonly version: Digest | "absent" | null;
    readonly uncertain: boolean;
  },
): void {
  if (version === null) return;
  versions.set(path, uncertain ? [...versions.get(path) ?? [], version] : [version]);
}
