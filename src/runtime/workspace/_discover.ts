import { directoryEntries } from "../linux/directory_entries.ts";
import { LinuxError } from "../linux/errno.ts";
import { O_DIRECTORY, O_RDONLY } from "../linux/open_flags.ts";
import {
  openat2,
  RESOLVE_BENEATH,
  RESOLVE_NO_MAGICLINKS,
  RESOLVE_NO_SYMLINKS,
} from "../linux/openat2.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { type EntryKind, type FileStat, statAt, statFd } from "../linux/statx.ts";
import { FluzoFailure } from "../../core/errors.ts";
import { readWhole } from "./_content.ts";
import { displayName } from "./_display_name.ts";
import { IgnoreRules } from "./_ignore_rules.ts";
import { isProtectedName, pathParts } from "./_path_parts.ts";
import type { Skips } from "./_skips.ts";
import type { Candidates } from "./protocol.ts";
import { openForListing, openRegular, openSubfolder, type Scope } from "./resolve.ts";
import { isSecretName } from "./secret_names.ts";

/** Entries that one discovery looks at; a repository in a home folder must not hold the worker. */
export const MAX_DISCOVERED = 200_000;
/** Larger ones are not rules somebody wrote. */
const MAX_IGNORE_FILE_BYTES = 1_048_576;

/** Something that was found. Valid until the next one is asked for. */
export interface Found {
  /** Relative to the root; for display when `utf8` is false. */
  readonly path: string;
  readonly utf8: boolean;
  readonly kind: EntryKind;
  /** The checked folder it is in, and its name there. */
  readonly directory: OwnedFd;
  readonly name: Uint8Array<ArrayBuffer>;
  /** Null where nothing but the kind was needed. */
  readonly stat: FileStat | null;
}

export interface DiscoverOptions {
  readonly path: string;
  readonly candidates: Candidates;
  /** Folders deeper than this below `path` are not entered. */
  readonly maxDepth: number;
  readonly skips: Skips;
  /** Says when to stop looking; asked before each entry. */
  readonly expired: () => boolean;
  /** Called when more than `MAX_DISCOVERED` entries would have come. */
  readonly onBound: () => void;
}

/**
 * Finds files beneath a folder in a stable order, from Git's candidates or by walking with the
 * ignore rules. Protected entries never come out, by name or by identity, nor do names that look
 * like secrets; links are reported as links and never followed.
 */
export function discover(scope: Scope, options: DiscoverOptions): Generator<Found, void> {
  return options.candidates === null
    ? walk(scope, options)
    : fromCandidates(scope, { ...options, candidates: options.candidates });
}

function* walk(scope: Scope, options: DiscoverOptions): Generator<Found, void> {
  using start = openForListing(scope, options.path);
  const parts = pathParts(options.path);
  let rules = IgnoreRules.empty();
  // Rules of the folders above the start hold in it too.
  for (let depth = 0; depth < parts.length; depth++) {
    const folder = parts.slice(0, depth).join("/");
    using above = openForListing(scope, folder === "" ? "." : folder);
    rules = withRules(rules, { directory: above, folder });
  }
  yield* walkFolder(scope, {
    ...options,
    directory: start,
    folder: parts.join("/"),
    rules,
    depth: 1,
    budget: { left: MAX_DISCOVERED },
  });
}

interface WalkStep extends DiscoverOptions {
  readonly directory: OwnedFd;
  readonly folder: string;
  readonly rules: IgnoreRules;
  readonly depth: number;
  readonly budget: { left: number };
}

function* walkFolder(scope: Scope, step: WalkStep): Generator<Found, void> {
  const { directory, folder, skips } = step;
  const rules = withRules(step.rules, { directory, folder });
  const entries = [...directoryEntries(directory)]
    .map((entry) => ({ ...entry, shown: displayName(entry.name) }))
    .sort((a, b) => compare(a.shown.text, b.shown.text));
  for (const entry of entries) {
    if (step.expired()) return;
    if (step.budget.left-- <= 0) return step.onBound();
    const { text, utf8 } = entry.shown;
    if (hidden(text, skips)) continue;
    const kind = entry.kind ?? statAt(directory, entry.name)?.kind ?? "other";
    const path = folder === "" ? text : `${folder}/${text}`;
    if (rules.ignores(path, kind === "directory")) continue;
    const found = { path, utf8, kind, directory, name: entry.name, stat: null };
    if (kind !== "directory") {
      yield found;
      continue;
    }
    using inner = enter(scope, { directory, name: entry.name, skips });
    if (inner === null) continue;
    yield found;
    if (step.depth >= step.maxDepth) continue;
    yield* walkFolder(scope, {
      ...step,
      directory: inner,
      folder: path,
      rules,
      depth: step.depth + 1,
    });
  }
}

/** Opens a subfolder of a checked one; null, and counted, when it may not be entered. */
function enter(
  scope: Scope,
  options: { readonly directory: OwnedFd; readonly name: Uint8Array; readonly skips: Skips },
): OwnedFd | null {
  let inner: OwnedFd;
  try {
    inner = openSubfolder(options.directory, options.name);
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    options.skips.add(error.code === "ENOENT" ? "vanished" : "refused");
    return null;
  }
  if (!scope.guard.protects(statFd(inner))) return inner;
  inner.close();
  options.skips.add("protected");
  return null;
}

function hidden(name: string, skips: Skips): boolean {
  if (isProtectedName(name)) return true;
  if (!isSecretName(name)) return false;
  skips.add("secret");
  return true;
}

function withRules(
  rules: IgnoreRules,
  place: { readonly directory: OwnedFd; readonly folder: string },
): IgnoreRules {
  if (statAt(place.directory, ".gitignore")?.kind !== "file") return rules;
  try {
    const { fd, stat } = openRegular(place.directory, ".gitignore", ".gitignore");
    using file = fd;
    const bytes = readWhole(file, {
      path: ".gitignore",
      maxBytes: MAX_IGNORE_FILE_BYTES,
      sizeBytes: stat.sizeBytes,
    });
    return rules.nested(place.folder, new TextDecoder().decode(bytes));
  } catch (error) {
    // Unreadable rules are no rules, as in Git.
    if (error instanceof LinuxError || error instanceof FluzoFailure) return rules;
    throw error;
  }
}

interface Candidate {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
  readonly utf8: boolean;
}

function* fromCandidates(
  scope: Scope,
  options: DiscoverOptions & { readonly candidates: Uint8Array },
): Generator<Found, void> {
  const { skips } = options;
  const base = pathParts(options.path).join("/");
  const folders = new CandidateFolders(scope, skips);
  using _folders = folders;
  let left = MAX_DISCOVERED;
  for (const candidate of parseCandidates(options.candidates, base)) {
    if (options.expired()) return;
    if (left-- <= 0) return options.onBound();
    const { bytes, text, utf8 } = candidate;
    const names = text.split("/");
    if (names.some((name) => name === ".." || isProtectedName(name))) {
      skips.add("protected");
      continue;
    }
    if (hidden(names.at(-1) ?? "", skips)) continue;
    const slash = bytes.lastIndexOf(SLASH);
    const directory = folders.open(bytes.subarray(0, Math.max(slash, 0)));
    if (directory === null) continue;
    const name = bytes.slice(slash + 1);
    const stat = statAt(directory, name);
    // Deleted in the working tree, still in the index.
    if (stat === null) skips.add("vanished");
    else if (scope.guard.protects(stat)) skips.add("protected");
    else yield { path: text, utf8, kind: stat.kind, directory, name, stat };
  }
}

const SLASH = 0x2f;

function parseCandidates(candidates: Uint8Array, base: string): Candidate[] {
  const prefix = base === "" ? "" : `${base}/`;
  const unique = new Map<string, Candidate>();
  for (let at = 0; at < candidates.length;) {
    const nul = candidates.indexOf(0, at);
    const next = nul < 0 ? candidates.length : nul;
    // Git prints an untracked nested repository with a slash at its end.
    const end = candidates[next - 1] === SLASH ? next - 1 : next;
    if (end > at) {
      const bytes = candidates.slice(at, end);
      const { text, utf8 } = displayName(bytes);
      if (text.startsWith(prefix) && !text.startsWith("/")) unique.set(text, { bytes, text, utf8 });
    }
    at = next + 1;
  }
  return [...unique.values()].sort((a, b) => compare(a.text, b.text));
}

/** The latest folder, kept open: sorted candidates come folder by folder. */
class CandidateFolders implements Disposable {
  readonly #scope: Scope;
  readonly #skips: Skips;
  #key: string | null = null;
  #fd: OwnedFd | null = null;

  constructor(scope: Scope, skips: Skips) {
    this.#scope = scope;
    this.#skips = skips;
  }

  /** The open, checked folder; null, and counted, when it is refused. */
  open(path: Uint8Array): OwnedFd | null {
    const key = displayName(path).text;
    if (key !== this.#key) {
      this[Symbol.dispose]();
      this.#fd = this.#openChecked(path, key);
      this.#key = key;
    }
    if (this.#fd === null) this.#skips.add("refused");
    return this.#fd;
  }

  #openChecked(path: Uint8Array, shown: string): OwnedFd | null {
    let fd: OwnedFd | null = null;
    try {
      fd = openat2(this.#scope.workspace.root, path.length === 0 ? "." : path, {
        flags: O_RDONLY | O_DIRECTORY,
        resolve: RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
      });
      this.#scope.guard.checkDirectory(fd, shown);
      return fd;
    } catch (error) {
      fd?.close();
      if (error instanceof LinuxError || error instanceof FluzoFailure) return null;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#fd?.close();
    this.#fd = null;
    this.#key = null;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
