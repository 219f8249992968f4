import type { FluzoError } from "../../core/errors.ts";
import type { TaskResult } from "../../core/events/event.ts";
import type { SessionId, TaskId } from "../../core/ids.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { type GrantRequest, parseExecGrant } from "../../core/policy/grant_request.ts";
import type { ApplicationPort, Command, Update } from "../../core/port/application.ts";
import type { TaskDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type Host, openHost } from "../../runtime/host.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { ParsedFlags } from "../command_line.ts";
import {
  type CommandContext,
  findUserPaths,
  loadFor,
  locate,
  type Location,
  readVariable,
} from "../composition.ts";
import { EXIT_CODES, exitFor } from "../exit_codes.ts";
import { errorText } from "../output/error_output.ts";
import { Progress } from "../output/progress.ts";
import {
  exitForResult,
  failureJson,
  reportJson,
  reportText,
  type RunReport,
} from "../output/result_output.ts";
import { safeJson, safeText } from "../output/safe_text.ts";
import { VERSION } from "../version.ts";

/** Events read in one page when a reader has to catch up. */
const EVENT_PAGE = 200;

/** Signals that end a run cleanly, with their own exit codes. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A runtime that is open on the workspace a command line names. */
export interface OpenRuntime {
  readonly host: Host;
  readonly location: Location;
}

/** Opens the runtime; nothing has been asked of a model yet. */
export async function openRuntime(flags: ParsedFlags): Promise<Result<OpenRuntime, FluzoError>> {
  const location = await locate(flags);
  if (!location.ok) return location;
  const paths = findUserPaths();
  if (!paths.ok) return paths;
  const config = await loadFor(location.value);
  if (!config.ok) return config;
  const host = await openHost({
    identity: location.value.identity,
    config: config.value,
    userPaths: paths.value,
    variable: readVariable,
    version: VERSION,
    // The command line starts nothing but commands and Git, which stays in this session.
    adoption: "all",
  });
  return host.ok ? ok({ host: host.value, location: location.value }) : host;
}

/** What begins a task in this process. */
export type BeginTask = Extract<Command, { type: "start_task" | "resume_task" }>;

/** Runs one task from its beginning to its result, and closes the runtime. */
export async function runToEnd(
  context: CommandContext,
  { runtime, command }: { readonly runtime: OpenRuntime; readonly command: BeginTask },
): Promise<number> {
  const { host, location: { root } } = runtime;
  if (root === "/" || root === Deno.env.get("HOME")) {
    await context.stderr.write(
      `Note: the workspace is ${root}: everything below it is within reach of the file tools.\n`,
    );
  }
  const signals = new SignalWatch(host, (text) => void context.stderr.write(text));
  try {
    return await runTask(context, { host, command, signals });
  } finally {
    signals.release();
    await host.shutdown("user");
  }
}

async function runTask(
  context: CommandContext,
  { host, command, signals }: {
    readonly host: Host;
    readonly command: BeginTask;
    readonly signals: SignalWatch;
  },
): Promise<number> {
  await announce(context, command);
  const reply = await host.port.execute(command);
  if (!reply.ok) return await notStarted(context, reply.error);
  const { taskId, sessionId } = reply.value;
  signals.watch(taskId);
  if ("differences" in reply.value) await announceDifferences(context, reply.value.differences);
  const afterSequence = "afterSequence" in reply.value ? reply.value.afterSequence : 0;
  await follow(context, { host, taskId, afterSequence });
  const detail = await host.port.query({ type: "show_task", taskId });
  if (!detail.ok) return await notStarted(context, host.defects[0] ?? detail.error);
  const { result } = detail.value;
  if (result === null) {
    const error = host.defects[0] ??
      { type: "internal", detail: "the task ended without a result" };
    return await notStarted(context, error);
  }
  const report = await makeReport(host.port, { taskId, sessionId, result, detail: detail.value });
  return await printReport(context, report);
}

/** Says what was granted, exactly as it was understood. */
async function announce(context: CommandContext, command: BeginTask): Promise<void> {
  const lines = command.grants.map((grant) => {
    switch (grant.type) {
      case "exec":
        return `Granted for this task: ${formatCommand(grant.argv)}${
          grant.cwd === "." ? "" : ` in ${grant.cwd}`
        }`;
      case "shell":
        return `Granted for this task: /bin/sh -c ${formatCommand([grant.script])}`;
      case "touch":
        return `Granted for this task: changes of ${grant.path}`;
    }
  });
  if (command.yolo) {
    lines.push("YOLO: what would be asked is allowed for this task. Commands are not sandboxed.");
  }
  await context.stderr.write(lines.map((line) => `${safeText(line)}\n`).join(""));
}

/** Says what is not as the last attempt left it. */
async function announceDifferences(
  context: CommandContext,
  differences: readonly string[],
): Promise<void> {
  if (differences.length === 0) return;
  const lines = differences.map((line) => `  ${safeText(line)}\n`).join("");
  await context.stderr.write(`Changed since the task stopped:\n${lines}`);
}

/** Shows what happens until the task has ended. */
async function follow(
  context: CommandContext,
  { host, taskId, afterSequence }: {
    readonly host: Host;
    readonly taskId: TaskId;
    /** Events up to here belong to earlier attempts. */
    readonly afterSequence: number;
  },
): Promise<void> {
  const subscription = host.port.subscribe(taskId);
  const progress = new Progress(context.errorStyle);
  // The task may have ended before the subscription began: its events then come from the journal.
  const before = await host.port.query({
    type: "list_events",
    taskId,
    afterSequence,
    limit: EVENT_PAGE,
  });
  let last = afterSequence;
  let over = false;
  const show = async (updates: readonly Update[]): Promise<void> => {
    for (const update of updates) {
      if (update.type === "event") {
        if (update.envelope.sequence <= last) continue;
        last = update.envelope.sequence;
        over ||= update.envelope.event.type === "task_ended";
      }
      if (context.format === "stream-json") await context.stdout.write(`${safeJson(update)}\n`);
      await context.stderr.write(progress.lines(update));
    }
  };
  if (before.ok) {
    await show(before.value.items.map((envelope) => ({ type: "event", envelope })));
  }
  if (!over) {
    for await (const updates of subscription) {
      await show(updates);
      if (updates.some(({ type }) => type === "lagged")) over ||= await hasEnded(host.port, taskId);
      if (over || host.defects.length > 0) break;
    }
  }
  subscription.close();
}

async function hasEnded(port: ApplicationPort, taskId: TaskId): Promise<boolean> {
  const detail = await port.query({ type: "show_task", taskId });
  return detail.ok && detail.value.result !== null;
}

async function makeReport(
  port: ApplicationPort,
  { taskId, sessionId, result, detail }: {
    readonly taskId: TaskId;
    readonly sessionId: SessionId;
    readonly result: TaskResult;
    readonly detail: TaskDetail;
  },
): Promise<RunReport> {
  const diff = result.diff === null
    ? null
    : await port.query({ type: "read_artifact", artifactId: result.diff });
  return {
    taskId,
    sessionId,
    result,
    diff: diff?.ok === true ? diff.value.text : "",
    verification: detail.verification.length === 0 ? "" : formatCommand(detail.verification),
  };
}

async function printReport(context: CommandContext, report: RunReport): Promise<number> {
  const { result } = report;
  if (context.format === "text") await context.stdout.write(reportText(report, context.style));
  else await context.stdout.write(`${safeJson(reportJson(report))}\n`);
  if (result.error !== null) {
    await context.stderr.write(errorText(result.error, context.errorStyle));
  }
  return EXIT_CODES[exitForResult(result)];
}

/** Ends a command whose task did not begin. */
export async function notStarted(context: CommandContext, error: FluzoError): Promise<number> {
  if (context.format !== "text") await context.stdout.write(`${safeJson(failureJson(error))}\n`);
  await context.stderr.write(errorText(error, context.errorStyle));
  return EXIT_CODES[exitFor(error)];
}

/**
 * Signals end a run cleanly: the first cancels the task, which records its end and gives the exit
 * code; the second kills what the task still runs; one more closes the runtime.
 */
class SignalWatch {
  readonly #host: Host;
  readonly #say: (text: string) => void;
  readonly #handlers: readonly (readonly [signal: typeof SIGNALS[number], handler: () => void])[];
  #taskId: TaskId | null = null;
  #first: typeof SIGNALS[number] | null = null;
  #killed = false;

  /** @param say Tells the user what a signal led to. */
  constructor(host: Host, say: (text: string) => void) {
    this.#host = host;
    this.#say = say;
    this.#handlers = SIGNALS.map((signal) => [signal, () => this.#caught(signal)]);
    for (const [signal, handler] of this.#handlers) Deno.addSignalListener(signal, handler);
  }

  /** The task that a signal cancels, also one that came before the task began. */
  watch(taskId: TaskId): void {
    this.#taskId = taskId;
    if (this.#first !== null) this.#stop("cancel_task", this.#first);
  }

  release(): void {
    for (const [signal, handler] of this.#handlers) Deno.removeSignalListener(signal, handler);
  }

  #caught(signal: typeof SIGNALS[number]): void {
    if (this.#first === null) {
      this.#first = signal;
      this.#say(`Stopping (${signal}). Once more kills what still runs.\n`);
      this.#stop("cancel_task", signal);
    } else if (this.#taskId !== null && !this.#killed) {
      this.#killed = true;
      this.#say(`Killing what still runs (${signal}).\n`);
      this.#stop("kill_task", signal);
    } else this.#host.shutdown(signal);
  }

  #stop(type: "cancel_task" | "kill_task", by: typeof SIGNALS[number]): void {
    if (this.#taskId === null) return;
    const commandId = randomIds(systemClock).next("command");
    // Its answer adds nothing: the task's own end tells what came of it.
    this.#host.port.execute({ type, commandId, taskId: this.#taskId, by });
  }
}

/** The permissions a command line gives for one task. */
export function readGrants(flags: ParsedFlags): Result<readonly GrantRequest[], FluzoError> {
  const grants: GrantRequest[] = [];
  for (const text of flags.texts("allow-exec")) {
    const grant = parseExecGrant(text);
    if (!grant.ok) {
      return usage(
        `Cannot grant --allow-exec "${text}": ${grant.error}`,
        "Quote it for Fluzo as well, or grant a script with --allow-shell",
      );
    }
    grants.push(grant.value);
  }
  for (const script of flags.texts("allow-shell")) grants.push({ type: "shell", script });
  for (const path of flags.texts("allow-touch")) {
    grants.push({ type: "touch", path: path.replace(/^(?:\.\/)+/, "") });
  }
  return ok(grants);
}

function usage(message: string, hint: string): Result<never, FluzoError> {
  return err({ type: "usage", message, hint });
}
