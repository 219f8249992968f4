import type { Ignore } from "ignore";

type MakeIgnore = (options: { readonly allowRelativePaths: boolean }) => Ignore;

/**
 * Loaded at the first walk: as a CommonJS package it would add 20 ms to the start of the worker,
 * and inside a repository Git itself names the candidates.
 */
let make: MakeIgnore | null = null;

/** Makes `IgnoreRules` usable; a second call costs nothing. */
export async function loadIgnoreRules(): Promise<void> {
  if (make !== null) return;
  const { default: ignore } = await import("ignore");
  make = (options) => ignore({ ...options, ignorecase: false });
}

/**
 * The `.gitignore` rules that hold in one folder. Nested files are rewritten into patterns of the
 * root and appended, so one list decides, its last match wins, and a folder that is ignored hides
 * what is in it, as in Git.
 */
export class IgnoreRules {
  readonly #ignore: Ignore;

  private constructor(ignore: Ignore) {
    this.#ignore = ignore;
  }

  static empty(): IgnoreRules {
    if (make === null) throw new TypeError("Cannot use ignore rules before they are loaded");
    return new IgnoreRules(make({ allowRelativePaths: true }));
  }

  /** The rules of a subfolder that has a `.gitignore` of its own. */
  nested(folder: string, content: string): IgnoreRules {
    const rules = IgnoreRules.empty();
    const prefix = folder === "" ? "" : `/${escapePattern(folder)}`;
    const lines = content.replace(/^\uFEFF/, "").split(/\r?\n/);
    rules.#ignore.add(this.#ignore);
    rules.#ignore.add(prefix === "" ? lines : lines.map((line) => rebase(line, prefix)));
    return rules;
  }

  /** Whether the entry at `path`, relative to the root, is ignored. */
  ignores(path: string, isFolder: boolean): boolean {
    return this.#ignore.ignores(isFolder ? `${path}/` : path);
  }
}

function rebase(line: string, prefix: string): string {
  if (line.trim() === "" || line.startsWith("#")) return "";
  const negated = line.startsWith("!");
  const pattern = negated ? line.slice(1) : line;
  // A slash anywhere but at the end ties a pattern to its folder.
  const bare = pattern.trimEnd().replace(/\/$/, "");
  const tied = bare.includes("/");
  const rest = pattern.startsWith("/") ? pattern : `/${tied ? "" : "**/"}${pattern}`;
  return `${negated ? "!" : ""}${prefix}${rest}`;
}

function escapePattern(folder: string): string {
  return folder.replace(/[\\*?[\]!# ]/g, "\\$&");
}
