import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { openGit } from "../../runtime/git/open_git.ts";
import { readStatus, readTracking } from "../../runtime/git/repository.ts";
import type { GitFacts } from "../../runtime/storage/data_directory.ts";
import { systemClock, systemTimers } from "../../runtime/system_clock.ts";
import { readVariable } from "../composition.ts";
import { failure, type Finding, good, note } from "./finding.ts";

/** What Git says, and what it says of the data directory; null where it says nothing. */
export interface GitCheck {
  readonly findings: readonly Finding[];
  readonly tracking: GitFacts | null;
}

/** Looks at the repository as every task does first. */
export async function checkGit(root: string): Promise<GitCheck> {
  const git = await openGit({
    root,
    variable: readVariable,
    timers: systemTimers,
    clock: systemClock,
  });
  if (git === null) {
    return without(note(
      "git",
      "Git is not installed: no baseline, no diff of what commands change",
      "Install Git for a complete result",
    ));
  }
  const state = await readStatus(git, "folders");
  if (!state.ok) return without(failure("git", state.error));
  if (state.value.git === "none") {
    return without(note(
      "git",
      "this folder is no repository: the data directory is protected by its mode alone",
    ));
  }
  const what = state.value.git === "unborn" ? "repository without a commit" : "repository";
  const finding = good("git", `${what}, ${state.value.entries.length} changed paths`);
  const tracking = await readTracking(git, { path: DATA_DIRECTORY, filled: false });
  return tracking.ok
    ? { findings: [finding], tracking: tracking.value }
    : { findings: [finding, failure("data directory", tracking.error)], tracking: null };
}

function without(finding: Finding): GitCheck {
  return { findings: [finding], tracking: null };
}
