import { FluzoFailure } from "../../core/errors.ts";
import { LinuxError } from "../linux/errno.ts";
import { readSome } from "../linux/files.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import type { FileStat } from "../linux/statx.ts";
import { discover } from "./_discover.ts";
import { loadIgnoreRules } from "./_ignore_rules.ts";
import { compileLineFinder, type LineFinder, nextLine } from "./_line_finder.ts";
import { refuse } from "./_refusal.ts";
import { Skips } from "./_skips.ts";
import { compileGlob, type PathMatcher } from "./glob.ts";
import type { SearchMatch, SearchResult, WorkspaceRequest } from "./protocol.ts";
import { locateForRead, openRegular, type Scope } from "./resolve.ts";
import { toLf } from "./text_format.ts";

/** Of one file. Larger ones are data, and one file must not take the whole time. */
export const MAX_SEARCHED_FILE_BYTES = 2 * 1024 * 1024;
/** Of one matching line. */
export const MAX_MATCH_CHARACTERS = 400;
/** Files opened in one search. */
export const MAX_SEARCHED_FILES = 100_000;
/** Bound on one search; a worker cannot be interrupted, so the search stops itself. */
export const SEARCH_TIME_LIMIT_MS = 10_000;

/** What to search for and where. */
export type SearchOptions = Omit<Extract<WorkspaceRequest, { readonly type: "search" }>, "type">;

/**
 * Finds lines in files, ordered by path and line. Text that is not UTF-8 is searched with its
 * foreign bytes replaced: finding it is better than hiding it. A file named directly is searched
 * even when the ignore rules or its name would leave it out.
 */
export async function searchFiles(scope: Scope, options: SearchOptions): Promise<SearchResult> {
  const find = await compileLineFinder(options);
  const matchesGlob = globOf(options.glob);
  if (options.candidates === null) await loadIgnoreRules();
  const search = new Search(find, options);
  if (searchNamed(scope, search, options.path)) return search.result();
  const found = discover(scope, {
    path: options.path,
    candidates: options.candidates,
    maxDepth: Infinity,
    skips: search.skips,
    expired: () => search.expired(),
    onBound: () => {
      search.cut = "files";
    },
  });
  for (const entry of found) {
    if (!matchesGlob(entry.path)) continue;
    if (entry.kind === "file") search.file(scope, entry);
    else if (entry.kind === "link") search.skips.add("link");
    else if (entry.kind === "other") search.skips.add("special");
    else if (options.candidates !== null) search.skips.add("nested_repository");
    if (search.cut !== null) break;
  }
  return search.result();
}

/** Searches a file that the request names itself. False when the path is a folder. */
function searchNamed(scope: Scope, search: Search, path: string): boolean {
  try {
    using location = locateForRead(scope, path);
    const { stat } = location;
    if (stat?.kind === "directory") return false;
    if (stat === null) refuse("not_found", path);
    if (stat.kind !== "file") refuse("special_file", path);
    search.file(scope, {
      path,
      directory: location.directory,
      name: new TextEncoder().encode(location.name),
    });
    return true;
  } catch (error) {
    // The root itself, or a link to a folder.
    if (isFolderRefusal(error)) return false;
    throw error;
  }
}

function isFolderRefusal(error: unknown): boolean {
  return error instanceof FluzoFailure && error.error.type === "workspace" &&
    error.error.reason === "is_directory";
}

function globOf(glob: string | null): PathMatcher {
  if (glob === null) return () => true;
  return compileGlob(glob) ?? refuse("invalid_pattern", glob, "The glob is empty or too large");
}

interface SearchedFile {
  readonly path: string;
  readonly directory: OwnedFd;
  readonly name: Uint8Array<ArrayBuffer>;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();
/** Most source files fit at once; grows up to the cap on a file and is kept. */
let buffer = new Uint8Array(65_536);

/** One search as it runs. */
class Search {
  readonly skips = new Skips();
  cut: SearchResult["cut"] = null;
  readonly #find: LineFinder;
  readonly #limits: { readonly maxMatches: number; readonly maxBytes: number };
  readonly #deadlineMs = performance.now() + SEARCH_TIME_LIMIT_MS;
  readonly #matches: SearchMatch[] = [];
  #bytes = 0;
  #files = 0;

  constructor(
    find: LineFinder,
    limits: { readonly maxMatches: number; readonly maxBytes: number },
  ) {
    this.#find = find;
    this.#limits = limits;
  }

  /** True, and the result is cut, when the time is over. */
  expired(): boolean {
    if (performance.now() <= this.#deadlineMs) return false;
    this.cut = "time";
    return true;
  }

  file(scope: Scope, file: SearchedFile): void {
    if (this.#files >= MAX_SEARCHED_FILES) {
      this.cut = "files";
      return;
    }
    const text = this.#read(scope, file);
    if (text === null) return;
    this.#files++;
    this.#searchText(file.path, text);
  }

  result(): SearchResult {
    return {
      matches: this.#matches,
      filesSearched: this.#files,
      skipped: this.skips.counts(),
      cut: this.cut,
    };
  }

  #read(scope: Scope, file: SearchedFile): string | null {
    try {
      const { fd, stat } = openRegular(file.directory, file.name, file.path);
      using opened = fd;
      if (scope.guard.protects(stat)) {
        this.skips.add("protected");
        return null;
      }
      scope.guard.checkAlias(stat, file.path);
      return this.#readText(opened, stat);
    } catch (error) {
      if (error instanceof LinuxError) {
        this.skips.add(error.code === "ENOENT" ? "vanished" : "refused");
      } else if (error instanceof FluzoFailure && error.error.type === "workspace") {
        this.skips.add(error.error.reason === "protected_path" ? "protected" : "refused");
      } else {
        throw error;
      }
      return null;
    }
  }

  #readText(fd: OwnedFd, stat: FileStat): string | null {
    if (stat.sizeBytes > MAX_SEARCHED_FILE_BYTES) {
      this.skips.add("too_large");
      return null;
    }
    if (buffer.length <= stat.sizeBytes) buffer = new Uint8Array(stat.sizeBytes + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = readSome(fd, buffer.subarray(length));
    }
    const bytes = buffer.subarray(0, length);
    if (bytes.includes(0)) {
      this.skips.add("binary");
      return null;
    }
    return toLf(decoder.decode(bytes));
  }

  #searchText(path: string, text: string): void {
    let line = 1;
    let counted = 0;
    for (let at = 0; this.cut === null;) {
      const found = this.#find(text, at);
      if (found === null || this.expired()) return;
      for (let next = text.indexOf("\n", counted); next >= 0 && next < found.start;) {
        line++;
        counted = next + 1;
        next = text.indexOf("\n", counted);
      }
      this.#add({ path, line, text: excerpt(text, found) });
      at = nextLine(text, found.end);
      if (at > text.length) return;
    }
  }

  #add(match: SearchMatch): void {
    const size = encoder.encode(match.path).length + encoder.encode(match.text).length;
    if (this.#matches.length >= this.#limits.maxMatches) this.cut = "matches";
    else if (this.#bytes + size > this.#limits.maxBytes) this.cut = "bytes";
    else {
      this.#matches.push(match);
      this.#bytes += size;
    }
  }
}

/** Characters kept before a match that lies far to the right. */
const LEAD_CHARACTERS = 80;

/** The line, or the part of a long one that holds the match. */
function excerpt(
  text: string,
  line: { readonly start: number; readonly end: number; readonly match: number },
): string {
  const whole = text.slice(line.start, line.end);
  if (whole.length <= MAX_MATCH_CHARACTERS) return whole;
  const lead = Math.max(0, line.match - line.start - LEAD_CHARACTERS);
  const from = lead + LEAD_CHARACTERS < MAX_MATCH_CHARACTERS / 2 ? 0 : lead;
  const part = whole.slice(from, from + MAX_MATCH_CHARACTERS).toWellFormed();
  const tail = from + MAX_MATCH_CHARACTERS < whole.length ? "…" : "";
  return `${from > 0 ? "…" : ""}${part}${tail}`;
}
