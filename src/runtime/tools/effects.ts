import type { GitError, ProcessError } from "../../core/errors.ts";
import type { Digest } from "../../core/digest.ts";
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
  /** What the user had changed at `path` before the task. */
  userChangeAt(path: string): Extract<OperationScope, { type: "file" }>["userChange"];
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
}

export interface CommandRequest {
  readonly argv: readonly string[];
  /** Relative to the root. */
  readonly cwd: string;
  readonly env: readonly (readonly [string, string])[];
  readonly timeoutMs: number;
  readonly captureBytes: number;
}

export interface CommandRunner {
  /** The absolute path that would run, without running it. */
  resolve(executable: string, cwd: string): Promise<Result<string, ProcessError>>;
  run(
    request: CommandRequest,
    options: {
      readonly signal: AbortSignal;
      readonly onStarted: (pid: number) => void;
      readonly onOutput: (text: string) => void;
    },
  ): Promise<Result<ProcessOutcome, ProcessError>>;
}

export interface GitInspection {
  /** Names Git knows or would add, NUL-separated; null outside a repository. */
  candidates(): Promise<Candidates>;
  status(): Promise<Result<string, GitError>>;
  diff(path: string | null): Promise<Result<string, GitError>>;
  log(path: string | null, count: number): Promise<Result<string, GitError>>;
  show(revision: string): Promise<Result<string, GitError>>;
}
