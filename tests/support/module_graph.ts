/** One import between two files of the tree. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** False for an import that only brings types. */
  readonly value: boolean;
}

interface InfoModule {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly code?: { readonly specifier?: string };
    readonly type?: { readonly specifier?: string };
    readonly isDynamic?: boolean;
  }[];
}

/**
 * Every import between the TypeScript files below a folder. Each file is a root of its own, since
 * nothing leads from a program to its workers.
 *
 * @param root Absolute path; the edges name files relative to it.
 */
export async function readGraph(root: string): Promise<readonly Edge[]> {
  const edges = new Map<string, Edge>();
  for (const file of sourceFiles(root)) {
    for (const edge of await edgesFrom(root, file)) {
      edges.set(`${edge.from} ${edge.to} ${edge.value}`, edge);
    }
  }
  return [...edges.values()];
}

/** TypeScript files below a folder, as absolute paths. */
export function sourceFiles(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return sourceFiles(path);
    return name.endsWith(".ts") ? [path] : [];
  }).sort();
}

/** The direct imports of one file, read from its text by the runtime's own parser. */
async function edgesFrom(root: string, file: string): Promise<readonly Edge[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-lock", file],
    stdin: "null",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { modules }: { readonly modules: readonly InfoModule[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const prefix = `file://${root}/`;
  return modules.filter(({ specifier }) => specifier.startsWith(prefix)).flatMap((module) =>
    (module.dependencies ?? []).flatMap(({ code, type }) => {
      const to = code?.specifier ?? type?.specifier ?? "";
      if (!to.startsWith(prefix)) return [];
      return [{
        from: module.specifier.slice(prefix.length),
        to: to.slice(prefix.length),
        value: code?.specifier !== undefined,
      }];
    })
  );
}

/** Groups of files that import each other by value, in a circle. */
export function valueCycles(edges: readonly Edge[]): readonly (readonly string[])[] {
  const next = new Map<string, string[]>();
  for (const { from, to, value } of edges) {
    if (value) next.set(from, [...next.get(from) ?? [], to]);
  }
  // Tarjan's strongly connected components.
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node) ?? 0);
    stack.push(node);
    for (const to of next.get(node) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(node, Math.min(low.get(node) ?? 0, low.get(to) ?? 0));
    }
    if (low.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1 || (next.get(node) ?? []).includes(node)) found.push(group.sort());
  };
  for (const node of next.keys()) if (!index.has(node)) visit(node);
  return found;
}

/** Which layers a layer may import, besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  runtime: ["core"],
  tui: ["core"],
  cli: ["core", "runtime", "tui"],
};

/** Imports that the layers forbid, and imports of another folder's private files. */
export function forbiddenEdges(edges: readonly Edge[]): readonly string[] {
  return edges.flatMap(({ from, to }) => {
    const layer = from.split("/")[0] ?? "";
    const target = to.split("/")[0] ?? "";
    const problems: string[] = [];
    if (layer !== target && !(ALLOWED[layer] ?? []).includes(target)) {
      problems.push(`${from} -> ${to}: ${layer} must not import ${target}`);
    }
    const name = to.slice(to.lastIndexOf("/") + 1);
    if (name.startsWith("_") && folderOf(from) !== folderOf(to)) {
      problems.push(`${from} -> ${to}: the file is private to its folder`);
    }
    return problems;
  });
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
