import type { GitError, ProcessError } from "../../core/errors.ts";
import type { Digest } from "../../core/digest.ts";
import type { OperationId } from "../../core/ids.ts";
import type { EndedOperation, ProcessIdentity } from "../../core/left_processes.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import type { Result } from "../../core/result.ts";
import type { ProcessOutcome } from "../processes/run_process.ts";
import type { Candidates, WorkspaceFiles } from "../workspace/protocol.ts";

/** Everything a tool may do to the world, passed in. A tool imports no adapter. */
export interface ToolEffects {
  /** The workspace root, resolved. */
  readonly root: string;
  readonly files: WorkspaceFiles;
  readonly commands: CommandRunner;
  readonly git: GitInspection;
  readonly versions: VersionLedger;
  readonly caps: ToolCaps;
  readonly userChanges: UserChanges;
}

/** Bounds from the configuration. */
export interface ToolCaps {
  /** Text of one result that the model reads, in bytes. */
  readonly contextBytes: number;
  /** Output of one command that is kept, in bytes. */
  readonly captureBytes: number;
  readonly shellTimeoutMs: number;
}

/** Which version of each file the model has seen: what its next edit is based on. */
export interface VersionLedger {
  seen(path: string): Digest | null;
  note(path: string, version: Digest | "absent"): void;
  /** Notes what Fluzo itself has just written: seen, and its own. */
  wrote(path: string, version: Digest | "absent"): void;
  /** Whether Fluzo wrote this version of the file in this attempt. */
  isOwn(path: string, version: Digest | "absent"): boolean;
}

/** What the user had changed before the task. */
export interface UserChanges {
  /** `none` for a file that was clean, or that Fluzo's own earlier attempt left as it is. */
  at(path: string): Extract<OperationScope, { type: "file" }>["userChange"];
  /** Content of a changed file when the attempt began; null where it was not recorded. */
  versionAt(path: string): Digest | "absent" | null;
}

export interface CommandRequest {
  readonly operationId: OperationId;
  readonly argv: readonly string[];
  /** Relative to the root. */
  readonly cwd: string;
  readonly env: readonly (readonly [string, string])[];
  /** The binding that was decided on; another one at the start is refused. */
  readonly binding: string;
  readonly timeoutMs: number;
  readonly captureBytes: number;
}

/** How what is being performed is stopped, and what it tells meanwhile. */
export interface PerformControls {
  /** Asks it to stop. */
  readonly signal: AbortSignal;
  /** Stops it by force: no grace, or the rest of it. */
  readonly force: AbortSignal;
  /** Told once a process runs. */
  readonly onStarted: (process: ProcessIdentity) => void;
  /** Raw output as it arrives, for the live view. */
  readonly onOutput: (text: string) => void;
}

export interface CommandRunner {
  /** The absolute path that would run and what it is bound to now, without running it. */
  resolve(
    executable: string,
    cwd: string,
  ): Promise<Result<{ readonly path: string; readonly binding: string }, ProcessError>>;
  run(
    request: CommandRequest,
    controls: PerformControls,
  ): Promise<Result<ProcessOutcome, ProcessError>>;
  /** Ends what operations left running; tells of those that had not ended by themselves. */
  endLeft(
    operations: ReadonlySet<OperationId>,
    force: AbortSignal,
  ): Promise<readonly EndedOperation[]>;
}

export interface GitInspection {
  /** Names Git knows or would add, NUL-separated; null outside a repository. */
  candidates(): Promise<Candidates>;
  status(): Promise<Result<string, GitError>>;
  diff(path: string | null): Promise<Result<string, GitError>>;
  log(path: string | null, count: number): Promise<Result<string, GitError>>;
  show(revision: string): Promise<Result<string, GitError>>;
}
