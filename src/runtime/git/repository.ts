import type { GitError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Git } from "./git_command.ts";
import { parseStatus, type RepositoryStatus } from "./parse_status.ts";

/**
 * A repository is in one of three states, and each has a plain answer: none (nothing to ask Git),
 * unborn (a repository before its first commit), commits.
 */
export type RepositoryState =
  | { readonly git: "none" }
  | ({ readonly git: "unborn" | "commits" } & RepositoryStatus);

/** How much of untracked folders is looked at. */
export type UntrackedDepth = "folders" | "files";

/** Git's message when a folder belongs to no repository. */
const NO_REPOSITORY_REGEXP = /not a git repository/i;

/** State and changed paths in one Git command. */
export async function readStatus(
  git: Git | null,
  untracked: UntrackedDepth,
): Promise<Result<RepositoryState, GitError>> {
  if (git === null) return ok({ git: "none" });
  const output = await git.run([
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    `--untracked-files=${untracked === "files" ? "all" : "normal"}`,
    "--ignore-submodules=dirty",
  ]);
  if (!output.ok) {
    return NO_REPOSITORY_REGEXP.test(output.error.detail) ? ok({ git: "none" }) : output;
  }
  const status = parseStatus(output.value.stdout);
  return ok({ git: status.head === null ? "unborn" : "commits", ...status });
}

/**
 * Whether Git tracks or ignores a folder; null outside a repository.
 *
 * @param filled Whether the folder has files: then one listing answers both, since Git names what
 * it tracks and what it would add, and says nothing of what it ignores.
 */
export async function readTracking(
  git: Git | null,
  { path, filled }: { readonly path: string; readonly filled: boolean },
): Promise<Result<{ readonly tracked: boolean; readonly ignored: boolean } | null, GitError>> {
  if (git === null) return ok(null);
  const listed = git.runPlain([
    "ls-files",
    "-z",
    "-t",
    "-c",
    "-o",
    "--exclude-standard",
    "--",
    path,
  ]);
  const checked = filled
    ? null
    : git.runPlain(["check-ignore", "--quiet", "--no-index", "--", `${path}/x`]);
  const listing = await listed;
  if (!listing.ok) return NO_REPOSITORY_REGEXP.test(listing.error.detail) ? ok(null) : listing;
  const names = new TextDecoder().decode(listing.value.stdout).split("\0");
  const tracked = names.some((name) => name !== "" && !name.startsWith("? "));
  if (checked === null) {
    return ok({
      tracked,
      ignored: names.every((name) => !name.startsWith("? ")),
    });
  }
  const ignored = await checked;
  return ignored.ok ? ok({ tracked, ignored: ignored.value.code === 0 }) : ignored;
}

/** Names Git knows or would add, NUL-separated; null outside a repository. */
export async function listFiles(git: Git | null): Promise<Uint8Array | null> {
  if (git === null) return null;
  const output = await git.runPlain(["ls-files", "-z", "-c", "-o", "--exclude-standard"]);
  return output.ok ? output.value.stdout : null;
}

/** Difference of the working tree to the last commit, as text. */
export async function readDiff(git: Git, path: string | null): Promise<Result<string, GitError>> {
  const base = await git.runPlain(["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (!base.ok) return base;
  const against = base.value.code === 0 ? ["HEAD"] : ["--cached"];
  return await readText(git, ["diff", ...PLAIN_DIFF, ...against, "--", ...(path ? [path] : [])]);
}

/** Newest commits, one line each. */
export async function readLog(
  git: Git,
  { path, count }: { readonly path: string | null; readonly count: number },
): Promise<Result<string, GitError>> {
  const head = await git.runPlain(["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (!head.ok) return head;
  if (head.value.code !== 0) return ok("There is no commit yet");
  return await readText(git, [
    "log",
    `--max-count=${count}`,
    "--date=short",
    "--format=%h %ad %an: %s",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--",
    ...(path ? [path] : []),
  ]);
}

/** A revision as Git writes it: no option, no path, nothing else that a command line could take. */
const REVISION_REGEXP = /^[A-Za-z0-9_][A-Za-z0-9_./@{}^~-]*$/;

/** One commit with its difference. */
export async function readCommit(git: Git, revision: string): Promise<Result<string, GitError>> {
  if (!REVISION_REGEXP.test(revision)) {
    return err({ type: "git", command: "show", detail: `"${revision}" is not a revision` });
  }
  return await readText(git, [
    "show",
    ...PLAIN_DIFF,
    "--no-show-signature",
    "--date=iso-strict",
    "--end-of-options",
    `${revision}^{commit}`,
    "--",
  ]);
}

/** Content of a path in the last commit, or null when it is not there. */
export async function readCommitted(git: Git | null, path: string): Promise<Uint8Array | null> {
  if (git === null) return null;
  const output = await git.run(["cat-file", "blob", `HEAD:${path}`]);
  return output.ok && output.value.code === 0 ? output.value.stdout : null;
}

const PLAIN_DIFF = ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"] as const;

async function readText(git: Git, args: readonly string[]): Promise<Result<string, GitError>> {
  const output = await git.run(args);
  return output.ok ? ok(new TextDecoder().decode(output.value.stdout)) : output;
}
