/** One changed path of `git status --porcelain=v2 -z`. */
export interface StatusEntry {
  readonly path: string;
  readonly change: "staged" | "modified" | "untracked" | "conflicted";
  /** Gone from the working tree. */
  readonly deleted: boolean;
  /** False for a name that is not UTF-8: `path` is then escaped and cannot be opened by it. */
  readonly utf8: boolean;
}

export interface RepositoryStatus {
  /** The commit, or null before the first one. */
  readonly head: string | null;
  /** The branch, or null when HEAD is detached. */
  readonly branch: string | null;
  readonly entries: readonly StatusEntry[];
}

/**
 * Parses `git status --porcelain=v2 --branch -z`. A path with changes in the index and in the
 * working tree counts as modified: what an edit would touch is the working tree.
 */
export function parseStatus(output: Uint8Array): RepositoryStatus {
  const fields = splitNul(output);
  let head: string | null = null;
  let branch: string | null = null;
  const entries: StatusEntry[] = [];
  for (let i = 0; i < fields.length; i++) {
    const record = fields[i];
    if (record === undefined) break;
    const line = decode(record);
    if (line.text.startsWith("# branch.oid ")) {
      const oid = line.text.slice("# branch.oid ".length);
      head = oid === "(initial)" ? null : oid;
    } else if (line.text.startsWith("# branch.head ")) {
      const name = line.text.slice("# branch.head ".length);
      branch = name === "(detached)" ? null : name;
    } else {
      const kind = line.text.charAt(0);
      const entry = parseEntry(record, kind);
      if (entry !== null) entries.push(entry);
      // A rename has its old name in a field of its own.
      if (kind === "2") {
        const old = fields[++i];
        if (old !== undefined) {
          const { text, utf8 } = decode(old);
          entries.push({ path: text, change: "staged", deleted: true, utf8 });
        }
      }
    }
  }
  return { head, branch, entries };
}

/** Fields before the path, by the record's kind. */
const FIELDS_BEFORE_PATH: ReadonlyMap<string, number> = new Map([
  ["1", 8],
  ["2", 9],
  ["u", 10],
  ["?", 1],
]);

function parseEntry(record: Uint8Array, kind: string): StatusEntry | null {
  const before = FIELDS_BEFORE_PATH.get(kind);
  if (before === undefined) return null;
  let start = 0;
  for (let field = 0; field < before; field++) start = record.indexOf(SPACE, start) + 1;
  const { text, utf8 } = decode(record.subarray(start));
  if (kind === "?") return { path: text, change: "untracked", deleted: false, utf8 };
  const [index, tree] = [String.fromCharCode(record[2] ?? 0), String.fromCharCode(record[3] ?? 0)];
  if (kind === "u") return { path: text, change: "conflicted", deleted: false, utf8 };
  return {
    path: text,
    change: tree === "." ? "staged" : "modified",
    deleted: tree === "D" || (index === "D" && tree === "."),
    utf8,
  };
}

const SPACE = 0x20;

function splitNul(output: Uint8Array): Uint8Array[] {
  const fields: Uint8Array[] = [];
  for (let start = 0; start < output.length;) {
    const end = output.indexOf(0, start);
    if (end === -1) break;
    fields.push(output.subarray(start, end));
    start = end + 1;
  }
  return fields;
}

function decode(bytes: Uint8Array): { readonly text: string; readonly utf8: boolean } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), utf8: true };
  } catch {
    const text = Array.from(
      bytes,
      (byte) =>
        byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`,
    ).join("");
    return { text, utf8: false };
  }
}
