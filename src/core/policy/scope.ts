import type { Digest } from "../digest.ts";

/**
 * The exact thing an operation would do. Two scopes are the same only when every field is: there is
 * no prefix, no pattern and no "also". A grant names one scope.
 */
export type OperationScope =
  /** Looks at files beneath the root. */
  | { readonly type: "inspect"; readonly tool: string; readonly path: string }
  /** Looks at Git through Fluzo's own guarded commands. */
  | { readonly type: "git_inspect"; readonly what: string }
  /** Changes one file. `version` is what the change is based on. */
  | {
    readonly type: "file";
    readonly action: "edit" | "create" | "rewrite" | "delete" | "rename";
    readonly path: string;
    readonly to: string | null;
    readonly version: Digest | "absent";
    /** What the workspace held before the task touched it. */
    readonly userChange: "none" | "staged" | "modified" | "untracked" | "conflicted";
    /** Whether `version` is what the task found when it began, or what Fluzo wrote since. */
    readonly knownVersion: boolean;
  }
  /** Runs a program. Not sandboxed: the scope says what starts, not what it may do. */
  | {
    readonly type: "command";
    readonly mode: "direct" | "shell";
    /** The executable and every argument; for a shell the interpreter, `-c` and the script. */
    readonly argv: readonly string[];
    /** Relative to the root. */
    readonly cwd: string;
    /** Explicit additions to the documented baseline, sorted by name. */
    readonly env: readonly (readonly [string, string])[];
    /** Runs Git's commit or push, also when wrapped in a shell. */
    readonly git: "none" | "commit" | "push";
    /**
     * What the names stood for when this was asked: the program that would start, with its identity
     * on the disk, and the reviewed environment. Opaque; equal only when nothing of it changed.
     */
    readonly binding: string;
  };

/**
 * Canonical text of a scope: equal texts, equal scopes. What a grant for a task stores and compares;
 * such a grant names a command as the user wrote it, whatever program that is at the time.
 */
export function scopeKey(scope: OperationScope): string {
  switch (scope.type) {
    case "inspect":
      return JSON.stringify([scope.type, scope.tool, scope.path]);
    case "git_inspect":
      return JSON.stringify([scope.type, scope.what]);
    case "file":
      return JSON.stringify([scope.type, scope.action, scope.path, scope.to, scope.version]);
    case "command":
      return JSON.stringify([scope.type, scope.mode, scope.argv, scope.cwd, scope.env]);
  }
}

/**
 * What the answer to one approval stores and compares: the scope and everything it was bound to, so
 * that a program, an environment or a file that changed since makes the answer worthless.
 */
export function approvalKey(scope: OperationScope): string {
  return scope.type === "command"
    ? JSON.stringify([scopeKey(scope), scope.binding])
    : scopeKey(scope);
}
