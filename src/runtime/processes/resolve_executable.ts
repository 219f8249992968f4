import type { ProcessError, ProcessReason } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { searchPath } from "./environment.ts";

const EXECUTE_BITS = 0o111;

/**
 * The absolute path of the program that would run. A bare name is looked for in the absolute
 * folders of PATH only, never in the current folder; a name with a slash is relative to `cwd`. The
 * file must be a program of this machine, or a script that names its interpreter.
 */
export async function resolveExecutable(
  executable: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<Result<string, ProcessError>> {
  if (executable === "" || executable.includes("\0")) {
    return refused("executable_not_found", executable, "it is not a usable name");
  }
  const candidates = executable.startsWith("/")
    ? [executable]
    : executable.includes("/")
    ? [`${cwd}/${executable}`]
    : searchPath(path).map((folder) => `${folder}/${executable}`);
  let found: string | null = null;
  for (const candidate of candidates) {
    const info = await look(candidate);
    if (info === null || info.isDirectory && !executable.includes("/")) continue;
    const permitted = info.isFile && info.mode !== null && (info.mode & EXECUTE_BITS) !== 0;
    if (permitted && await isProgram(candidate)) return ok(candidate);
    found ??= candidate;
  }
  return found === null
    ? refused("executable_not_found", executable, "")
    : refused("not_executable", executable, found);
}

/**
 * Whether the kernel can start the file itself. What it cannot start, the C library would hand to a
 * shell: an interpreter that nobody asked for.
 */
async function isProgram(path: string): Promise<boolean> {
  const start = new Uint8Array(4);
  try {
    using file = await Deno.open(path);
    await file.read(start);
  } catch (failure) {
    // It may be started but not read; then no shell could read it either.
    if (failure instanceof Deno.errors.PermissionDenied) return true;
    if (failure instanceof Deno.errors.NotFound) return false;
    throw failure;
  }
  const text = String.fromCharCode(...start);
  return text === "\x7fELF" || text.startsWith("#!");
}

async function look(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.stat(path);
  } catch (failure) {
    if (
      failure instanceof Deno.errors.NotFound || failure instanceof Deno.errors.NotADirectory ||
      failure instanceof Deno.errors.PermissionDenied ||
      failure instanceof Deno.errors.FilesystemLoop
    ) return null;
    throw failure;
  }
}

function refused(
  reason: ProcessReason,
  executable: string,
  detail: string,
): Result<never, ProcessError> {
  return err({ type: "process", reason, executable, detail });
}
