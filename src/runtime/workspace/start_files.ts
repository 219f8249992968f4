import { err, ok, type Result } from "../../core/result.ts";
import type { WorkspaceError } from "../../core/errors.ts";
import { startWorkspaceWorker, type WorkspaceWorker } from "./client.ts";
import { Guard } from "./_guard.ts";
import { refusalOf } from "./_refusal.ts";
import type { WorkspaceFiles, WorkspaceReplies, WorkspaceRequest } from "./protocol.ts";
import { readText } from "./read.ts";
import { versionsOf } from "./versions.ts";
import { openWorkspace, type Workspace } from "./_workspace.ts";

/** Files that are fingerprinted without the worker: a handful of changed files at the start. */
const MAX_LOCAL_VERSIONS = 16;

/** Bytes of one file that are read without the worker: the instructions of a repository. */
const MAX_LOCAL_BYTES = 65_536;

/** The file access of a host. */
export interface StartFiles extends WorkspaceFiles {
  /** Opens the root; the first call. */
  open(): Result<null, WorkspaceError>;
  /** Starts the worker if it is not there yet: it will be needed soon. */
  warmUp(): void;
  /** Ends the worker, if there is one. */
  close(): void;
}

/**
 * File access that starts its worker at first need. A worker takes longer to start than everything
 * else before the first request, and what is needed before that is small: the same confined code
 * answers it here, through the same openat2. Everything larger, and every change, goes to the
 * worker.
 */
export function startFiles(
  root: string,
  { protectedPaths }: { readonly protectedPaths: readonly string[] },
): StartFiles {
  let workspace: Workspace | null = null;
  let worker: WorkspaceWorker | null = null;
  let closed = false;
  const started = (): WorkspaceWorker => {
    if (worker === null) {
      worker = startWorkspaceWorker();
      // Requests are answered in order, so nothing can overtake the opening; a root that cannot be
      // opened answers them all with its refusal.
      worker.call({ type: "open", root, protectedPaths });
    }
    return worker;
  };
  return {
    open: () => {
      try {
        workspace = openWorkspace(root, protectedPaths);
        return ok(null);
      } catch (thrown) {
        return err(refusalOf(thrown, root));
      }
    },
    warmUp: () => {
      if (!closed) started();
    },
    close: () => {
      closed = true;
      worker?.close();
      workspace?.root.close();
      workspace = null;
    },
    call: async (request) => {
      if (worker === null && workspace !== null && isSmall(request)) {
        // The small requests are two of the types; the compiler cannot follow the generic.
        return await answerHere(workspace, request) as never;
      }
      return await started().call(request);
    },
  };
}

type SmallRequest = Extract<WorkspaceRequest, { type: "read" | "versions" }>;

function isSmall(request: WorkspaceRequest): request is SmallRequest {
  switch (request.type) {
    case "read":
      return request.maxBytes <= MAX_LOCAL_BYTES;
    case "versions":
      return request.paths.length <= MAX_LOCAL_VERSIONS;
    default:
      return false;
  }
}

async function answerHere(
  workspace: Workspace,
  request: SmallRequest,
): Promise<Result<WorkspaceReplies["read" | "versions"], WorkspaceError>> {
  const scope = { workspace, guard: new Guard(workspace) };
  try {
    return ok(
      request.type === "read"
        ? await readText(scope, request)
        : await versionsOf(scope, request.paths),
    );
  } catch (thrown) {
    return err(refusalOf(thrown, request.type === "read" ? request.path : ""));
  }
}
