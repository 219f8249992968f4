import { visible } from "../../core/text/visible.ts";
import type { RepositoryState } from "./repository.ts";

/** Changed paths that are listed. */
const MAX_LINES = 500;

/** The state of a repository as a model reads it. */
export function formatStatus(state: RepositoryState): string {
  switch (state.git) {
    case "none":
      return "This folder is not a Git repository.";
    case "unborn":
    case "commits": {
      const head = state.git === "unborn"
        ? "No commit yet."
        : state.branch === null
        ? "Detached HEAD."
        : `Branch ${visible(state.branch)}.`;
      if (state.entries.length === 0) return `${head}\nNo changes.`;
      const lines = state.entries.slice(0, MAX_LINES).map(({ change, deleted, path }) =>
        `${change}${deleted ? " (deleted)" : ""} ${visible(path)}`
      );
      const left = state.entries.length - lines.length;
      if (left > 0) lines.push(`(${left} more)`);
      return `${head}\n${lines.join("\n")}`;
    }
  }
}
