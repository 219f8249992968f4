import type { Digest } from "../../core/digest.ts";
import type { Baseline } from "../../core/events/event.ts";

/** Changed paths that are named; a longer list tells how many more there are. */
const MAX_NAMED_PATHS = 40;

/** What can be compared at a resume. */
export interface ResumeView {
  /** What the workspace held when the last attempt began; null when it did not get that far. */
  readonly before: Baseline | null;
  readonly now: Baseline;
  /** What the task's own files may hold, and what they hold now. */
  readonly ownFiles: readonly {
    readonly path: string;
    readonly left: readonly (Digest | "absent")[];
    readonly now: Digest | "absent" | null;
  }[];
}

/** What is not as the last attempt left it, one line each: for the user and for the model. */
export function resumeDifferences({ before, now, ownFiles }: ResumeView): readonly string[] {
  const lines: string[] = [];
  if (before !== null) {
    if (before.git !== now.git) {
      lines.push(`Git: was ${GIT_WORDS[before.git]}, is ${GIT_WORDS[now.git]}`);
    }
    if (before.branch !== now.branch) {
      lines.push(`Branch: was ${branch(before)}, is ${branch(now)}`);
    }
    if (before.head !== now.head) lines.push(`HEAD: was ${head(before)}, is ${head(now)}`);
  }
  const changed: string[] = [];
  for (const { path, left, now: holds } of ownFiles) {
    if (holds !== null && left.includes(holds)) continue;
    changed.push(
      holds === null
        ? `${path}: cannot be looked at`
        : `${path}: ${holds === "absent" ? "gone" : "changed"} since the task wrote it`,
    );
  }
  const folders = [...before?.entries ?? []].map(({ path }) => path).filter((path) =>
    path.endsWith("/")
  );
  const entries = new Map(before?.entries.map((entry) => [entry.path, entry]));
  for (const entry of now.entries) {
    const earlier = entries.get(entry.path);
    if (before === null || earlier?.digest === entry.digest) continue;
    // What is in a folder that was one entry then may have been there.
    if (folders.some((folder) => entry.path.startsWith(folder))) continue;
    changed.push(
      `${entry.path}: ${earlier === undefined ? `${entry.change} since` : "changed since"}`,
    );
  }
  lines.push(...changed.slice(0, MAX_NAMED_PATHS));
  if (changed.length > MAX_NAMED_PATHS) {
    lines.push(`and ${changed.length - MAX_NAMED_PATHS} more changed paths`);
  }
  return lines;
}

const GIT_WORDS: Readonly<Record<Baseline["git"], string>> = {
  none: "no repository",
  unborn: "a repository without a commit",
  commits: "a repository with commits",
};

function branch(baseline: Baseline): string {
  return baseline.branch ?? "none (detached)";
}

function head({ head }: Baseline): string {
  return head === null ? "none" : head.slice(0, 12);
}
