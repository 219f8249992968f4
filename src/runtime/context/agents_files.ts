import type { WorkspaceFiles } from "../workspace/protocol.ts";

/** Name of the files in which a repository tells agents how to work in it. */
const AGENTS_FILE = "AGENTS.md";

/** Bytes of one such file that are read: a page or two; the rest is left out and said so. */
const MAX_AGENTS_BYTES = 16_384;

/** Instructions of a repository for one subtree. Data for the model, never a permission. */
export interface AgentsText {
  readonly path: string;
  /** The subtree it is for, "." for all. */
  readonly scope: string;
  readonly text: string;
}

/**
 * Finds the AGENTS.md files that apply to a path, each once a task: the root's when the task
 * begins, nested ones when a path below them is first touched.
 */
export class AgentsFiles {
  readonly #files: WorkspaceFiles;
  readonly #looked = new Set<string>();

  constructor(files: WorkspaceFiles) {
    this.#files = files;
  }

  /** Instructions for `path` that were not given yet, from the outermost folder in. */
  async forPath(path: string): Promise<readonly AgentsText[]> {
    const found: AgentsText[] = [];
    for (const folder of foldersOf(path)) {
      if (this.#looked.has(folder)) continue;
      this.#looked.add(folder);
      const text = await this.#read(folder);
      if (text !== null) found.push(text);
    }
    return found;
  }

  async #read(folder: string): Promise<AgentsText | null> {
    const path = folder === "." ? AGENTS_FILE : `${folder}/${AGENTS_FILE}`;
    const read = await this.#files.call({
      type: "read",
      path,
      firstLine: 1,
      maxLines: MAX_AGENTS_BYTES,
      maxBytes: MAX_AGENTS_BYTES,
    });
    if (!read.ok || read.value.text.trim() === "") return null;
    const cut = read.value.cut === null ? "" : "\n(the rest of the file is left out)";
    return { path, scope: folder, text: read.value.text + cut };
  }
}

/** The root and every folder on the way to `path`, outermost first. */
function foldersOf(path: string): string[] {
  const folders = ["."];
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  for (let depth = 1; depth < parts.length; depth++) {
    folders.push(parts.slice(0, depth).join("/"));
  }
  return folders;
}

/** Instructions as the model reads them. */
export function formatAgentsTexts(texts: readonly AgentsText[]): string {
  return texts.map(({ path, scope, text }) =>
    `<instructions file="${path}" for="${scope === "." ? "all files" : `${scope}/`}">\n${text}\n` +
    "</instructions>"
  ).join("\n");
}
