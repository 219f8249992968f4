/**
 * Path globs with a bound on their cost: no regular expression, so no pattern can take
 * exponential time.
 *
 * `?` is one character and `*` any number, neither of them `/`; `**` as a whole part is any number
 * of folders; `{a,b}` are alternatives. A pattern without `/` is matched against the last part of
 * the path, at any depth; one with `/` against the whole path from the workspace root. There are no
 * character classes, and a leading dot needs no special mention.
 */

/** Patterns that braces may expand to. */
const MAX_ALTERNATIVES = 64;
/** Longer ones come from a confused model, not from a need. */
const MAX_GLOB_CHARACTERS = 512;

/** Tells whether a relative path matches. */
export type PathMatcher = (path: string) => boolean;

/** Compiles a glob; null when it is empty, too long or expands too far. */
export function compileGlob(glob: string): PathMatcher | null {
  const pattern = glob.startsWith("./") ? glob.slice(2) : glob;
  if (pattern === "" || pattern.length > MAX_GLOB_CHARACTERS) return null;
  const alternatives = expandBraces(pattern);
  if (alternatives === null) return null;
  const matchers = alternatives.map((alternative): PathMatcher => {
    const parts = alternative.replace(/^\/+/, "").split("/").filter((part) => part !== "");
    // A glob for a folder names what is in it.
    if (alternative.endsWith("/")) parts.push("**");
    if (!alternative.includes("/")) {
      return (path) => matchesPart(alternative, path.slice(path.lastIndexOf("/") + 1));
    }
    return (path) => matchesParts(parts, path.split("/"));
  });
  return (path) => matchers.some((matches) => matches(path));
}

function expandBraces(pattern: string): string[] | null {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const close = next.indexOf("}");
    const open = close < 0 ? -1 : next.lastIndexOf("{", close);
    if (open < 0) {
      done.push(next);
    } else {
      const [head, tail] = [next.slice(0, open), next.slice(close + 1)];
      for (const choice of next.slice(open + 1, close).split(",")) {
        waiting.push(head + choice + tail);
      }
    }
    if (done.length + waiting.length > MAX_ALTERNATIVES) return null;
  }
  return done;
}

/** Matches folder by folder; only the latest `**` ever needs another try. */
function matchesParts(pattern: readonly string[], path: readonly string[]): boolean {
  let p = 0;
  let s = 0;
  let starAt = -1;
  let starPath = 0;
  while (s < path.length) {
    const part = pattern[p];
    if (part === "**") {
      starAt = p++;
      starPath = s;
    } else if (part !== undefined && matchesPart(part, path[s] ?? "")) {
      p++;
      s++;
    } else if (starAt >= 0) {
      p = starAt + 1;
      s = ++starPath;
    } else {
      return false;
    }
  }
  while (pattern[p] === "**") p++;
  return p === pattern.length;
}

function matchesPart(pattern: string, name: string): boolean {
  let p = 0;
  let s = 0;
  let starAt = -1;
  let starName = 0;
  while (s < name.length) {
    const character = pattern[p];
    if (character === "*") {
      starAt = p++;
      starName = s;
    } else if (character === "?" || (character !== undefined && character === name[s])) {
      p++;
      s++;
    } else if (starAt >= 0) {
      p = starAt + 1;
      s = ++starName;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
