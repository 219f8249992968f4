import { FluzoFailure, type WorkspaceError, type WorkspaceReason } from "../../core/errors.ts";
import { LinuxError } from "../linux/errno.ts";

/** Ends an operation with a typed refusal; the worker's dispatch turns it into a `Result`. */
export function refuse(reason: WorkspaceReason, path: string, detail = ""): never {
  throw new FluzoFailure(workspaceError(reason, path, detail));
}

/** Builds the error that `refuse` throws. */
export function workspaceError(
  reason: WorkspaceReason,
  path: string,
  detail = "",
): WorkspaceError {
  return { type: "workspace", reason, path, detail };
}

/** The typed form of anything an operation threw, for the path it was asked to work on. */
export function refusalOf(thrown: unknown, path: string): WorkspaceError {
  if (thrown instanceof FluzoFailure && thrown.error.type === "workspace") return thrown.error;
  if (thrown instanceof LinuxError) {
    return workspaceError(reasonOf(thrown), path, `${thrown.call}: ${thrown.code}`);
  }
  if (thrown instanceof Deno.errors.NotSupported) {
    return workspaceError("unsupported_kernel", path, thrown.message);
  }
  return workspaceError("io", path, thrown instanceof Error ? thrown.message : String(thrown));
}

function reasonOf(error: LinuxError): WorkspaceReason {
  switch (error.code) {
    case "ENOENT":
      return "not_found";
    case "EEXIST":
    case "ENOTEMPTY":
      return "exists";
    case "ENOTDIR":
      return "not_directory";
    case "EISDIR":
      return "is_directory";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "permission";
    case "ENAMETOOLONG":
      return "invalid_name";
    case "ENXIO":
      return "special_file";
    case "ELOOP":
      return "magic_link";
    case "EXDEV":
      return error.call === "openat2" ? "outside_workspace" : "io";
    case "ENOSYS":
    case "EINVAL":
    case "E2BIG":
    case "EOPNOTSUPP":
      return error.call === "openat2" || error.call === "renameat2" ? "unsupported_kernel" : "io";
    default:
      return "io";
  }
}
