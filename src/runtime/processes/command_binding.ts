import { AT_FDCWD } from "../linux/openat2.ts";
import { statAt } from "../linux/statx.ts";
import type { EnvironmentSources } from "./environment.ts";

/** What the kernel reads of a file to find out how to start it, in bytes. */
const START_BYTES = 256;

/** Interpreters of interpreters that the kernel follows. */
const MAX_INTERPRETERS = 4;

/** The program that `#!` names; what follows it is an argument. */
const INTERPRETER_REGEXP = /^#![ \t]*([^ \t\n\0]+)/;

/**
 * What a command stands for now: the program behind its name and the interpreters it names, each
 * with its identity and the time it changed last, the folder it runs in, and the reviewed
 * environment. Two equal bindings start the same programs.
 *
 * @param paths Absolute paths that exist.
 */
export async function commandBinding(
  { program, cwd }: { readonly program: string; readonly cwd: string },
  { inherit, set }: Pick<EnvironmentSources, "inherit" | "set">,
): Promise<string> {
  const variables = Object.entries(set).sort(([a], [b]) => a < b ? -1 : 1);
  return JSON.stringify([
    await programsOf(program, cwd),
    await Deno.realPath(cwd),
    inherit.toSorted(),
    variables,
  ]);
}

/** A program and the interpreters that would be started for it, outermost first. */
async function programsOf(program: string, cwd: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  let path: string | null = program;
  for (let depth = 0; path !== null && depth <= MAX_INTERPRETERS; depth++) {
    const real: string = await Deno.realPath(path);
    found.push([real, ...versionOf(real)]);
    const interpreter = await interpreterOf(real);
    // A relative one is looked for where the command runs.
    path = interpreter === null || interpreter.startsWith("/")
      ? interpreter
      : `${cwd}/${interpreter}`;
    if (path !== null && versionOf(path).length === 0) {
      found.push([path, "missing"]);
      break;
    }
  }
  return found;
}

function versionOf(path: string): readonly string[] {
  const stat = statAt(AT_FDCWD, path, { follow: true });
  if (stat === null) return [];
  const { device, inode, sizeBytes, changeTimeNs } = stat;
  return [device, inode, sizeBytes, changeTimeNs].map(String);
}

async function interpreterOf(path: string): Promise<string | null> {
  const start = new Uint8Array(START_BYTES);
  try {
    using file = await Deno.open(path);
    const length = await file.read(start) ?? 0;
    const text = new TextDecoder("latin1").decode(start.subarray(0, length));
    return INTERPRETER_REGEXP.exec(text)?.[1] ?? null;
  } catch (failure) {
    // It may be started but not read: the kernel reads it, and no script is of that kind.
    if (failure instanceof Deno.errors.PermissionDenied) return null;
    throw failure;
  }
}
