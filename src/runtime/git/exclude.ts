import type { GitError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Git } from "./git_command.ts";

/** Largest exclude file that is edited, in bytes. */
const MAX_EXCLUDE_BYTES = 1 << 20;

/**
 * Adds a line to the repository's own exclude file (`.git/info/exclude`), which no commit carries.
 * Adding it again changes nothing.
 *
 * @returns Whether the file was changed.
 */
export async function addExclude(git: Git, line: string): Promise<Result<boolean, GitError>> {
  const located = await git.runPlain([
    "rev-parse",
    "--path-format=absolute",
    "--git-path",
    "info/exclude",
  ]);
  if (!located.ok) return located;
  const path = new TextDecoder().decode(located.value.stdout).replace(/\n$/, "");
  try {
    const text = await readExisting(path);
    if (text.split(/\r?\n/).includes(line)) return ok(false);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    await Deno.writeTextFile(path, `${separator}${line}\n`, { append: true });
    return ok(true);
  } catch (failure) {
    const detail = failure instanceof Error ? failure.message : String(failure);
    return err({ type: "git", command: "info/exclude", detail });
  }
}

async function readExisting(path: string): Promise<string> {
  try {
    const { size } = await Deno.stat(path);
    if (size > MAX_EXCLUDE_BYTES) throw new RangeError(`${path} is unreasonably large`);
    return await Deno.readTextFile(path);
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return "";
    throw failure;
  }
}
