import type { WorkspaceError } from "./errors.ts";
import type { ErrorText } from "./_error_words.ts";

/** Words for one kind of error; see `error_text.ts`. */
export function describeWorkspace(error: WorkspaceError): ErrorText {
  const at = `"${error.path}"`;
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "not_found":
      return {
        what: `There is no file ${at}${detail}`,
        remedy: "Use list or search to find the right name",
      };
    case "exists":
      return {
        what: `${at} exists already${detail}`,
        remedy: "Read it first, then edit it",
      };
    case "outside_workspace":
      return {
        what: `${at} leads out of the workspace${detail}`,
        remedy: "Use a path inside the workspace, relative to its root",
      };
    case "magic_link":
      return {
        what: `${at} goes through a kernel link, which is never followed${detail}`,
        remedy: "",
      };
    case "through_link":
      return {
        what: `${at} is reached through a link, and files are not changed through links${detail}`,
        remedy: "Use the real path",
      };
    case "special_file":
      return { what: `${at} is not a regular file${detail}`, remedy: "" };
    case "protected_path":
      return { what: `${at} is protected and out of reach of file tools${detail}`, remedy: "" };
    case "multiply_linked":
      return {
        what: `${at} has more than one name (hard links), so it is not changed${detail}`,
        remedy: "The user can break the link by copying the file",
      };
    case "stale_version":
      return {
        what: `${at} is not the version that was read${detail}`,
        remedy: "Read it again and make the change to what is there now",
      };
    case "is_directory":
      return { what: `${at} is a directory${detail}`, remedy: "Use list to look into it" };
    case "not_directory":
      return { what: `A part of ${at} is not a directory${detail}`, remedy: "Check the path" };
    case "binary":
      return { what: `${at} is a binary file${detail}`, remedy: "" };
    case "not_utf8":
      return {
        what: `${at} is not UTF-8, so it cannot be changed without loss${detail}`,
        remedy: "",
      };
    case "too_large":
      return { what: `${at} is too large${detail}`, remedy: "Read a part of it, or search in it" };
    case "no_match":
      return {
        what: `The text to replace is not in ${at}${detail}`,
        remedy: "Copy the old text exactly as it is in the file",
      };
    case "ambiguous_match":
      return {
        what: `The text to replace is in ${at} more than once${detail}`,
        remedy: "Give more of the surrounding lines, or ask for all of them",
      };
    case "invalid_name":
      return { what: `${at} is not a usable path${detail}`, remedy: "Use a relative path" };
    case "invalid_pattern":
      return {
        what: `The pattern cannot be used${detail}`,
        remedy: "Correct the pattern, or search for the literal text",
      };
    case "permission":
      return { what: `The system does not permit access to ${at}${detail}`, remedy: "" };
    case "unsupported_kernel":
      return {
        what: `File tools cannot work safely on this kernel${detail}`,
        remedy: "Linux 5.6 or newer with openat2 is needed",
      };
    case "worker_lost":
      return {
        what: `The file worker ended while it handled ${at}${detail}`,
        remedy: "Look at the file before you go on",
      };
    case "io":
      return { what: `The system failed on ${at}${detail}`, remedy: "" };
  }
}
