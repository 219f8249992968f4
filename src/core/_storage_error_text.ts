import type { StorageError } from "./errors.ts";
import type { ErrorText } from "./_error_words.ts";

/** Words for one kind of error; see `error_text.ts`. */
export function describeStorage(error: StorageError): ErrorText {
  const at = `"${error.path}"`;
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "not_private":
      return { what: `${at} is not private to you${detail}`, remedy: "" };
    case "is_link":
      return {
        what: `${at} is a link, so Fluzo stores nothing there`,
        remedy: "Replace it with a real folder",
      };
    case "tracked_by_git":
      return {
        what: `Git tracks ${at}, which holds private records`,
        remedy: "Run `git rm -r --cached .fluzodrive`, then `fluzo init`",
      };
    case "not_ignored":
      return {
        what: `Git does not ignore ${at}, which will hold private records`,
        remedy: "Run `fluzo init --yes`, or add /.fluzodrive/ to .git/info/exclude",
      };
    case "newer_schema":
      return { what: `${at} was written by a newer Fluzo${detail}`, remedy: "Use that Fluzo" };
    case "older_schema":
      return {
        what: `${at} was written by an older Fluzo${detail}`,
        remedy: "Run a task here: the journal is brought to this version after a backup",
      };
    case "weaker_mode":
      return {
        what: `${at} cannot be kept durable here${detail}`,
        remedy: "Keep the workspace on a local file system",
      };
    case "corrupt":
      return {
        what: `The journal ${at} is damaged${detail}`,
        remedy: "Nothing was changed. `fluzo history set-aside` keeps it, with all its files, " +
          "beside a new journal",
      };
    case "artifact_damaged":
      return {
        what: `What was kept in ${at} is not there as it was recorded${detail}`,
        remedy: "The journal itself says what happened; this content is lost",
      };
    case "disk_full":
      return {
        what: `The file system of ${at} is full${detail}`,
        remedy: "Free some space; what was committed is kept",
      };
    case "low_space":
      return {
        what: `The file system of ${at} has too little space${detail}`,
        remedy: "Free some space, or lower storage.min_free_bytes; what was committed is kept",
      };
    case "limit_reached":
      return {
        what: `The records in ${at} have reached their limit${detail}`,
        remedy: "Delete old sessions with `fluzo history purge`, or raise " +
          "storage.session_max_bytes; nothing was deleted",
      };
    case "busy":
      return { what: `${at} is in use${detail}`, remedy: "Try again" };
    case "queue_full":
      return { what: `Too many records wait for ${at}${detail}`, remedy: "Try again" };
    case "invalid_transition":
      return {
        what: `The journal ${at} refused a change that cannot follow from its state${detail}`,
        remedy: "Please report it; nothing was changed",
      };
    case "worker_lost":
      return {
        what: `The worker that writes ${at} ended${detail}`,
        remedy: "Start Fluzo again: it shows what is known and what is not",
      };
    case "io":
      return { what: `Cannot use ${at}${detail}`, remedy: "Check the folder and its file system" };
  }
}
