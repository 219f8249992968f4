import type { Clock, Timers } from "../../core/clock.ts";
import type { GitError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";

/** Longest run of one Git command, in milliseconds: a status of a very large tree on a cold disk. */
const GIT_TIMEOUT_MS = 30_000;

/** Output of one Git command that is read, in bytes; more is an error, not a silent cut. */
const MAX_OUTPUT_BYTES = 64 << 20;

/** Bytes of standard error that go into an error. */
const MAX_ERROR_BYTES = 2048;

/**
 * Settings that switch off everything by which a repository's own configuration could run a
 * program or ask a question while Fluzo only looks: monitors, hooks, pagers, signatures, helpers.
 */
const QUIET_SETTINGS = [
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.sshCommand=false",
  "core.askPass=false",
  "core.alternateRefsCommand=false",
  "core.quotePath=true",
  "credential.helper=",
  "diff.external=",
  "diff.trustExitCode=false",
  "gpg.program=false",
  "log.showSignature=false",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
  "diff.ignoreSubmodules=dirty",
  "protocol.allow=never",
] as const;

/** Where Git runs and with what. */
export interface GitContext {
  /** Absolute path of the Git program; found once. */
  readonly executable: string;
  readonly root: string;
  /** Only PATH and HOME are taken from it. */
  readonly path: string;
  readonly home: string;
  readonly timers: Timers;
  readonly clock: Clock;
}

/** What a Git command gave. `code` is 0 or 1 (which some commands use for "no"). */
export interface GitOutput {
  readonly stdout: Uint8Array;
  readonly code: number;
}

/**
 * Runs Git for Fluzo itself: the one place that does. Filter drivers of the repository are named by
 * its configuration, so they are looked up and switched off by name.
 */
export class Git {
  readonly #context: GitContext;
  #filters: Promise<readonly string[]> | null = null;

  constructor(context: GitContext) {
    this.#context = context;
  }

  /**
   * Runs a command that reads content through filters and drivers (status, diff, show), with all of
   * them switched off.
   */
  async run(args: readonly string[]): Promise<Result<GitOutput, GitError>> {
    this.#filters ??= this.#driverSettings();
    // Paths are names here, never patterns; commands that check ignore rules do not know the option.
    return await this.#spawn(await this.#filters, ["--literal-pathspecs", ...args]);
  }

  /** Runs a command that looks at no content (rev-parse, check-ignore, config, ls-files). */
  async runPlain(args: readonly string[]): Promise<Result<GitOutput, GitError>> {
    return await this.#spawn([], args);
  }

  /** Settings that neutralise every filter and diff driver the configuration names. */
  async #driverSettings(): Promise<readonly string[]> {
    const listed = await this.runPlain([
      "config",
      "--null",
      "--name-only",
      "--get-regexp",
      "^(filter|diff|merge)\\..+\\.(clean|smudge|process|required|textconv|command|driver|cachetextconv)$",
    ]);
    if (!listed.ok) return [];
    const names = new Set(new TextDecoder().decode(listed.value.stdout).split("\0"));
    return [...names].filter((name) => name !== "").map((name) =>
      name.endsWith(".required") || name.endsWith(".cachetextconv") ? `${name}=false` : `${name}=`
    );
  }

  async #spawn(
    settings: readonly string[],
    args: readonly string[],
  ): Promise<Result<GitOutput, GitError>> {
    const name = args.find((arg) => !arg.startsWith("-")) ?? "";
    const failed = (detail: string) => err({ type: "git", command: name, detail } as const);
    let child: Deno.ChildProcess;
    try {
      child = new Deno.Command(this.#context.executable, {
        args: [
          "--no-optional-locks",
          "--no-pager",
          ...[...QUIET_SETTINGS, ...settings].flatMap((setting) => ["-c", setting]),
          ...args,
        ],
        cwd: this.#context.root,
        clearEnv: true,
        env: gitEnvironment(this.#context),
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    } catch (failure) {
      return failed(failure instanceof Error ? failure.message : String(failure));
    }
    let late = false;
    const cancel = this.#context.timers.after(GIT_TIMEOUT_MS, () => {
      late = true;
      child.kill("SIGKILL");
    });
    const [stdout, stderr, status] = await Promise.all([
      readBounded(child.stdout, MAX_OUTPUT_BYTES),
      readBounded(child.stderr, MAX_ERROR_BYTES),
      child.status,
    ]);
    cancel();
    if (late) return failed(`it took longer than ${GIT_TIMEOUT_MS / 1000} s`);
    if (stdout.cut) return failed(`it printed more than ${MAX_OUTPUT_BYTES} bytes`);
    if (status.code > 1 || status.signal !== null) {
      return failed(new TextDecoder().decode(stderr.bytes).trim() || `exit code ${status.code}`);
    }
    return ok({ stdout: stdout.bytes, code: status.code });
  }
}

/** Nothing of ours but PATH and HOME: no GIT_DIR, no helper, no prompt. */
function gitEnvironment({ path, home }: GitContext): Record<string, string> {
  return {
    PATH: path,
    HOME: home,
    LC_ALL: "C.UTF-8",
    TERM: "dumb",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
    GIT_EDITOR: "true",
    GIT_ASKPASS: "true",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

async function readBounded(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly cut: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  let cut = false;
  for await (const part of stream) {
    const room = maxBytes - length;
    if (part.byteLength > room) cut = true;
    if (room <= 0) continue;
    parts.push(part.subarray(0, room));
    length += Math.min(part.byteLength, room);
  }
  const only = parts[0];
  if (parts.length === 1 && only !== undefined) return { bytes: only, cut };
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return { bytes, cut };
}
