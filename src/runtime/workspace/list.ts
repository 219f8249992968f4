import { discover, type Found } from "./_discover.ts";
import { loadIgnoreRules } from "./_ignore_rules.ts";
import { pathParts } from "./_path_parts.ts";
import type { Candidates, ListEntry, WorkspaceReplies } from "./protocol.ts";
import type { Scope } from "./resolve.ts";
import { Skips } from "./_skips.ts";
import { statAt } from "../linux/statx.ts";

/** Bound on one listing; the worker answers nothing else meanwhile. */
export const LIST_TIME_LIMIT_MS = 5_000;

/** What to list. */
export interface ListOptions {
  readonly path: string;
  /** 1 lists the folder itself, 2 its subfolders too. */
  readonly depth: number;
  readonly maxEntries: number;
  readonly candidates: Candidates;
}

/**
 * Lists a folder, sorted by path. With candidates, folders are those that hold one; what is deeper
 * than `depth` shows as its folder only. `cut` says that more would have come.
 */
export async function listEntries(
  scope: Scope,
  options: ListOptions,
): Promise<WorkspaceReplies["list"]> {
  if (options.candidates === null) await loadIgnoreRules();
  const deadlineMs = performance.now() + LIST_TIME_LIMIT_MS;
  const skips = new Skips();
  const depth = Math.max(1, options.depth);
  const baseDepth = pathParts(options.path).length;
  const listing = new Listing(options.maxEntries);
  let incomplete = false;
  const found = discover(scope, {
    path: options.path,
    candidates: options.candidates,
    maxDepth: depth,
    skips,
    expired: () => incomplete ||= performance.now() > deadlineMs,
    onBound: () => {
      incomplete = true;
    },
  });
  for (const entry of found) {
    const names = entry.path.split("/");
    for (let level = baseDepth + 1; level < names.length && level <= baseDepth + depth; level++) {
      listing.addFolder(names.slice(0, level).join("/"), entry.utf8);
    }
    if (names.length <= baseDepth + depth) listing.add(describe(entry));
    if (listing.full) break;
  }
  return { entries: listing.entries, cut: listing.full || incomplete, skipped: skips.counts() };
}

function describe(found: Found): ListEntry {
  const stat = found.stat ?? statAt(found.directory, found.name);
  return {
    path: found.path,
    kind: found.kind,
    sizeBytes: found.kind === "file" ? stat?.sizeBytes ?? 0 : 0,
    utf8: found.utf8,
  };
}

/** Entries up to a bound, each folder once. */
class Listing {
  readonly entries: ListEntry[] = [];
  readonly #folders = new Set<string>();
  readonly #maxEntries: number;
  /** True once an entry did not fit. */
  full = false;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  add(entry: ListEntry): void {
    if (entry.kind === "directory") this.addFolder(entry.path, entry.utf8);
    else this.#push(entry);
  }

  addFolder(path: string, utf8: boolean): void {
    if (this.#folders.has(path)) return;
    this.#folders.add(path);
    this.#push({ path, kind: "directory", sizeBytes: 0, utf8 });
  }

  #push(entry: ListEntry): void {
    if (this.entries.length >= this.#maxEntries) this.full = true;
    else this.entries.push(entry);
  }
}
