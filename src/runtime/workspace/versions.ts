import type { WorkspaceError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { MAX_FILE_BYTES, readContent } from "./_content.ts";
import type { FileVersion } from "./protocol.ts";
import { refusalOf } from "./_refusal.ts";
import { locateForRead, type Scope } from "./resolve.ts";

/** Looks at what each path holds now, in order. A missing file or folder is `absent`. */
export async function versionsOf(
  scope: Scope,
  paths: readonly string[],
): Promise<Result<FileVersion, WorkspaceError>[]> {
  const results: Result<FileVersion, WorkspaceError>[] = [];
  for (const path of paths) {
    try {
      using location = locateForRead(scope, path);
      const { version } = await readContent(location, { path, maxBytes: MAX_FILE_BYTES });
      results.push(ok(version));
    } catch (error) {
      const refusal = refusalOf(error, path);
      results.push(refusal.reason === "not_found" ? ok({ state: "absent" }) : err(refusal));
    }
  }
  return results;
}
