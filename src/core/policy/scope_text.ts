import { visible } from "../text/visible.ts";
import { formatCommand } from "./command_scope.ts";
import type { OperationScope } from "./scope.ts";

/** A scope on one line for people: exact, with every control and bidirectional character shown. */
export function describeScope(scope: OperationScope): string {
  switch (scope.type) {
    case "inspect":
      return `${scope.tool} ${visible(scope.path)}`;
    case "git_inspect":
      return `git ${visible(scope.what)}`;
    case "file": {
      const to = scope.to === null ? "" : ` to ${visible(scope.to)}`;
      const change = scope.userChange === "none"
        ? ""
        : ` (your ${scope.userChange} change is there)`;
      return `${scope.action} ${visible(scope.path)}${to}${change}`;
    }
    case "command": {
      const folder = scope.cwd === "." ? "" : ` in ${visible(scope.cwd)}`;
      const env = scope.env.map(([name, value]) => ` with ${visible(`${name}=${value}`)}`).join("");
      return `${formatCommand(scope.argv)}${folder}${env}`;
    }
  }
}
