import type { ProcessError } from "./errors.ts";
import type { ErrorText } from "./_error_words.ts";

/** Words for one kind of error; see `error_text.ts`. */
export function describeProcess(error: ProcessError): ErrorText {
  const name = `"${error.executable}"`;
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "executable_not_found":
      return {
        what: `There is no program ${name}${detail}`,
        remedy: "Check the name; programs are looked for in PATH only",
      };
    case "not_executable":
      return { what: `${name} is not executable${detail}`, remedy: "Run it by its interpreter" };
    case "outside_workspace":
      return {
        what: `Cannot run ${name}: the folder leads out of the workspace${detail}`,
        remedy: "Use a folder inside the workspace",
      };
    case "invalid_environment":
      return { what: `Cannot run ${name}: invalid environment${detail}`, remedy: "" };
    case "program_changed":
      return {
        what: `Not run: what ${name} stands for has changed since it was allowed${detail}`,
        remedy: "Ask for it again",
      };
    case "cancelled":
      return { what: `Not run: the task was cancelled before ${name} started`, remedy: "" };
    case "spawn_failed":
      return { what: `Cannot start ${name}${detail}`, remedy: "" };
    case "run_permission":
      return {
        what: `This Fluzo may not start ${name}${detail}`,
        remedy: "Install it again with the command in the README",
      };
  }
}
