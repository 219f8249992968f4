import type { Digest } from "../../core/digest.ts";
import type { FluzoError } from "../../core/errors.ts";
import type {
  Baseline,
  BaselineEntry,
  ObservedChange,
  PreExistingChange,
} from "../../core/events/event.ts";
import type { Result } from "../../core/result.ts";
import type { WorkspaceFiles } from "../workspace/protocol.ts";

/** Changed paths that are fingerprinted at the start; beyond that they are named as unknown. */
export const MAX_BASELINE_ENTRIES = 2000;

/** The state of the repository as one look at Git gives it. */
export interface RepositoryView {
  readonly git: Baseline["git"];
  readonly head: string | null;
  readonly branch: string | null;
  readonly entries: readonly {
    readonly path: string;
    readonly change: BaselineEntry["change"];
    readonly deleted: boolean;
  }[];
}

/** Where the observer looks. */
export interface ObserverEffects {
  readonly files: WorkspaceFiles;
  look(): Promise<Result<RepositoryView, FluzoError>>;
}

/**
 * Records what differs from the last commit before a task, with the content of each such file.
 *
 * @param touched Files the user allows to be changed: recorded one by one where Git names only the
 * folder they are in, so that the permission is bound to what is there now.
 */
export async function takeBaseline(
  view: RepositoryView,
  { files, touched }: { readonly files: WorkspaceFiles; readonly touched: readonly string[] },
): Promise<Baseline> {
  const folders = view.entries.filter(({ path }) => path.endsWith("/"));
  const inFolders = touched.filter((path) =>
    folders.some((folder) => path.startsWith(folder.path))
  );
  const listed = [
    ...view.entries.slice(0, MAX_BASELINE_ENTRIES),
    ...inFolders.map((path) => ({ path, change: "untracked" } as const)),
  ];
  const digests = await digestsOf(files, listed.map(({ path }) => path));
  return {
    git: view.git,
    head: view.head,
    branch: view.branch,
    entries: listed.map(({ path, change }, index) => ({
      path,
      change,
      digest: digests[index] ?? null,
    })),
    truncated: view.entries.length > MAX_BASELINE_ENTRIES,
  };
}

/** What changed since the baseline, apart from what the user had changed before. */
export interface Observation {
  readonly changes: readonly ObservedChange[];
  readonly preExisting: readonly PreExistingChange[];
  readonly uncertainties: readonly string[];
}

/**
 * Compares the workspace with the baseline. `toolPaths` are the paths Fluzo's own tools changed;
 * everything else that differs appeared while the task ran: by its commands, or by someone else.
 */
export async function observeChanges(
  { baseline, toolPaths, createdPaths }: {
    readonly baseline: Baseline;
    readonly toolPaths: ReadonlySet<string>;
    readonly createdPaths: ReadonlySet<string>;
  },
  effects: ObserverEffects,
): Promise<Observation> {
  const uncertainties: string[] = [];
  const before = new Map(baseline.entries.map((entry) => [entry.path, entry]));
  const now = await digestsOf(effects.files, [...before.keys()]);
  const preExisting = baseline.entries.map((entry, index) => compare(entry, now[index] ?? null));
  const changes: ObservedChange[] = [];
  for (const path of toolPaths) {
    if (before.has(path)) continue;
    changes.push({ path, change: createdPaths.has(path) ? "created" : "modified", by: "tool" });
  }
  if (baseline.git === "none") {
    uncertainties.push(
      "There is no Git repository: changes made by commands are not known, only those by file tools",
    );
    return { changes: await settle(changes, effects.files), preExisting, uncertainties };
  }
  const view = await effects.look();
  if (!view.ok) {
    uncertainties.push(
      "Git could not be asked what changed; only changes by file tools are listed",
    );
    return { changes: await settle(changes, effects.files), preExisting, uncertainties };
  }
  if (view.value.head !== baseline.head) {
    uncertainties.push("HEAD moved while the task ran: committed changes are not listed");
  }
  for (const entry of view.value.entries) {
    if (before.has(entry.path) || toolPaths.has(entry.path)) continue;
    changes.push({
      path: entry.path,
      change: entry.deleted ? "deleted" : entry.change === "untracked" ? "created" : "modified",
      by: "observed",
    });
  }
  if (changes.some(({ by }) => by === "observed")) {
    uncertainties.push(
      "Changes marked as observed came from a command of the task or from someone else meanwhile",
    );
  }
  if (baseline.truncated) {
    uncertainties.push(
      `More than ${MAX_BASELINE_ENTRIES} files were changed before the task: not all were recorded`,
    );
  }
  return { changes: await settle(changes, effects.files), preExisting, uncertainties };
}

function compare(entry: BaselineEntry, now: Digest | "absent" | null): PreExistingChange {
  const { path, change, digest } = entry;
  if (digest === null || now === null) return { path, change, now: "unknown" };
  return { path, change, now: digest === now ? "unchanged" : "changed" };
}

/** Looks once more at what tools changed: a file that is gone by now was deleted. */
async function settle(
  changes: readonly ObservedChange[],
  files: WorkspaceFiles,
): Promise<readonly ObservedChange[]> {
  const digests = await digestsOf(files, changes.map(({ path }) => path));
  const settled: ObservedChange[] = [];
  changes.forEach((change, index) => {
    const gone = digests[index] === "absent";
    // Created and deleted again by the same task: nothing is left to tell.
    if (gone && change.change === "created") return;
    settled.push(gone ? { ...change, change: "deleted" } : change);
  });
  return settled.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

/** Content of each path now; null where it cannot be told. */
export async function digestsOf(
  files: WorkspaceFiles,
  paths: readonly string[],
): Promise<readonly (Digest | "absent" | null)[]> {
  if (paths.length === 0) return [];
  const versions = await files.call({ type: "versions", paths });
  if (!versions.ok) return paths.map(() => null);
  return versions.value.map((version) => {
    if (!version.ok) return null;
    return version.value.state === "absent" ? "absent" : version.value.digest;
  });
}
