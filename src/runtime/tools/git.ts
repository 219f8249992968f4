import type { GitError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type { ToolEffects } from "./effects.ts";
import { inspection } from "./_inspection.ts";
import { tidyPath } from "./_paths.ts";
import { done, failed } from "./_refusals.ts";
import description from "./git.md" with { type: "text" };
import { defineTool } from "./tool.ts";

/** Commits a log shows. */
const LOG_COMMITS = 20;

const VIEWS = ["status", "diff", "log", "show"] as const;

/** Looks at the repository through Fluzo's guarded Git commands. */
export const gitTool = defineTool({
  name: "git",
  description,
  fields: {
    view: { type: "choice", options: VIEWS, text: "What to look at" },
    path: { type: "string", text: "Only this path, for diff and log", optional: true },
    revision: { type: "string", text: "Commit, for show; HEAD if left out", optional: true },
  },
  prepare: (args, { effects }) => {
    const path = args.path === null ? null : tidyPath(args.path, effects.root);
    const what = [args.view, path ?? "", args.revision ?? ""].join(" ").trim();
    return inspection({ type: "git_inspect", what }, async () => {
      const looked = await look(effects, { view: args.view, path, revision: args.revision });
      if (!looked.ok) return failed(looked.error);
      return done(looked.value === "" ? "(nothing)" : looked.value, `git ${what}`);
    });
  },
});

function look(
  { git }: ToolEffects,
  { view, path, revision }: {
    readonly view: typeof VIEWS[number];
    readonly path: string | null;
    readonly revision: string | null;
  },
): Promise<Result<string, GitError>> {
  switch (view) {
    case "status":
      return git.status();
    case "diff":
      return git.diff(path);
    case "log":
      return git.log(path, LOG_COMMITS);
    case "show":
      return git.show(revision ?? "HEAD");
  }
}
