import type { EnvironmentSources } from "./environment.ts";

/**
 * What a command stands for now: the program behind its name with its identity and age, the folder
 * it runs in, and the reviewed environment. Two equal bindings start the same program.
 *
 * @param paths Absolute paths that exist.
 */
export async function commandBinding(
  { program, cwd }: { readonly program: string; readonly cwd: string },
  { inherit, set }: Pick<EnvironmentSources, "inherit" | "set">,
): Promise<string> {
  const real = await Deno.realPath(program);
  const { dev, ino, size, mtime } = await Deno.stat(real);
  const version = [dev, ino, size, mtime?.getTime() ?? null];
  const variables = Object.entries(set).sort(([a], [b]) => a < b ? -1 : 1);
  return JSON.stringify([real, version, await Deno.realPath(cwd), inherit.toSorted(), variables]);
}
