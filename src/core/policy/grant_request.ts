import { err, ok, type Result } from "../result.ts";
import { formatCommand, parseCommandLine } from "./command_scope.ts";
import { type OperationScope, scopeKey } from "./scope.ts";

/** A grant for one task as the user gives it on the command line. */
export type GrantRequest =
  /** `--allow-exec 'deno test'`, or `--allow-exec 'sub/folder$ deno test'` for another folder. */
  | { readonly type: "exec"; readonly argv: readonly string[]; readonly cwd: string }
  /** `--allow-shell SCRIPT`: word for word, by `/bin/sh -c` in the workspace root. */
  | { readonly type: "shell"; readonly script: string }
  /** `--allow-touch PATH`: edits of this file although it has uncommitted changes of the user. */
  | { readonly type: "touch"; readonly path: string };

/** The interpreter of every shell request; part of the scope that is granted. */
export const SHELL = "/bin/sh";

/** Separates the folder from the command, as in a prompt. An unquoted `$` is in no argument. */
const PROMPT_REGEXP = /^([^$'"\\]+)\$ +(.*)$/s;

/** Parses the value of `--allow-exec`. The error is one sentence. */
export function parseExecGrant(text: string): Result<GrantRequest, string> {
  const prompt = PROMPT_REGEXP.exec(text);
  const cwd = prompt?.[1]?.trim() ?? ".";
  const argv = parseCommandLine(prompt?.[2] ?? text);
  if (!argv.ok) return err(argv.error);
  return ok({ type: "exec", argv: argv.value, cwd: cwd.replace(/\/+$/, "") || "." });
}

/** What a grant covers, and the text it is compared by. */
export function grantKey(
  request: GrantRequest,
): { readonly covers: "scope" | "touch"; readonly key: string } {
  switch (request.type) {
    case "exec":
      return { covers: "scope", key: commandKey("direct", request.argv, request.cwd) };
    case "shell":
      return { covers: "scope", key: commandKey("shell", [SHELL, "-c", request.script], ".") };
    case "touch":
      return { covers: "touch", key: request.path };
  }
}

function commandKey(mode: "direct" | "shell", argv: readonly string[], cwd: string): string {
  return scopeKey({ type: "command", mode, argv, cwd, env: [], git: "none", binding: "" });
}

/** The flag that would grant exactly `scope`; empty when no flag does. */
export function grantFlag(scope: OperationScope): string {
  switch (scope.type) {
    case "inspect":
    case "git_inspect":
      return "";
    case "file":
      return scope.userChange === "none" || scope.to !== null
        ? ""
        : `--allow-touch ${formatCommand([scope.path])}`;
    case "command": {
      if (scope.env.length > 0) return "";
      const script = scope.argv[2];
      if (scope.mode === "shell") {
        return script === undefined || scope.cwd !== "."
          ? ""
          : `--allow-shell ${formatCommand([script])}`;
      }
      const folder = scope.cwd === "." ? "" : `${scope.cwd}$ `;
      return `--allow-exec ${formatCommand([`${folder}${formatCommand(scope.argv)}`])}`;
    }
  }
}
