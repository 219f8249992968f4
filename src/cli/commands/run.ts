import type { FluzoError } from "../../core/errors.ts";
import type { SessionId } from "../../core/ids.ts";
import { parseCommandLine } from "../../core/policy/command_scope.ts";
import type { ApplicationPort } from "../../core/port/application.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { randomIds } from "../../runtime/random_ids.ts";
import { systemClock } from "../../runtime/system_clock.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import {
  type BeginTask,
  notStarted,
  type OpenRuntime,
  openRuntime,
  readGrants,
  runToEnd,
} from "./_task_runner.ts";

/** Largest request that is read from standard input, in bytes. */
const MAX_INPUT_BYTES = 1 << 20;

/** `fluzo run`: one task, headless, from its start to its result. */
export async function run(input: CommandInput): Promise<number> {
  const context = commandContext(input.flags);
  const prepared = await prepare(input);
  return prepared.ok
    ? await runToEnd(context, prepared.value)
    : await notStarted(context, prepared.error);
}

/** Reads the command line and opens the runtime; nothing has been asked of a model yet. */
async function prepare(
  { positionals, flags }: CommandInput,
): Promise<Result<{ readonly runtime: OpenRuntime; readonly command: BeginTask }, FluzoError>> {
  const grants = readGrants(flags);
  if (!grants.ok) return grants;
  const verification = readVerification(flags);
  if (!verification.ok) return verification;
  const goal = await readGoal(positionals[0] ?? null);
  if (!goal.ok) return goal;
  const runtime = await openRuntime(flags);
  if (!runtime.ok) return runtime;
  const { host } = runtime.value;
  const session = await chooseSession(host.port, flags);
  if (!session.ok) {
    await host.shutdown("user");
    return session;
  }
  return ok({
    runtime: runtime.value,
    command: {
      type: "start_task",
      commandId: randomIds(systemClock).next("command"),
      goal: goal.value,
      sessionId: session.value,
      model: flags.text("model"),
      grants: grants.value,
      onAsk: flags.text("on-ask") === "deny" ? "deny" : "block",
      verification: verification.value,
      yolo: flags.has("yolo"),
    },
  });
}

async function chooseSession(
  port: ApplicationPort,
  flags: ParsedFlags,
): Promise<Result<SessionId | null, FluzoError>> {
  if (!flags.has("continue")) return ok(null);
  const sessions = await port.query({ type: "list_sessions", cursor: null, limit: 1 });
  if (!sessions.ok) return sessions;
  const newest = sessions.value.items[0];
  if (newest !== undefined) return ok(newest.id);
  return err({
    type: "usage",
    message: "Cannot continue: there is no session in this workspace yet",
    hint: "Run it without --continue",
  });
}

function readVerification(flags: ParsedFlags): Result<readonly string[] | null, FluzoError> {
  const text = flags.text("verify");
  if (text === null) return ok(null);
  const argv = parseCommandLine(text);
  return argv.ok
    ? argv
    : usage(`Cannot use --verify "${text}": ${argv.error}`, "Give one program with its arguments");
}

/** The request: the argument, or standard input for "-" and for a pipe. */
async function readGoal(argument: string | null): Promise<Result<string, FluzoError>> {
  if (argument !== null && argument !== "-") {
    return argument.trim() === "" ? usage("The request is empty", "Say what to do") : ok(argument);
  }
  if (argument === null && Deno.stdin.isTerminal()) {
    return usage('Missing TEXT: `fluzo run "..."`', "Or give it on standard input");
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of Deno.stdin.readable) {
    length += part.byteLength;
    if (length > MAX_INPUT_BYTES) {
      return usage(
        `The request on standard input is longer than ${MAX_INPUT_BYTES} bytes`,
        "Put long material into a file of the workspace and name it",
      );
    }
    parts.push(part);
  }
  const text = new TextDecoder().decode(
    new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()),
  );
  return text.trim() === ""
    ? usage("The request on standard input is empty", "Say what to do")
    : ok(text);
}

function usage(message: string, hint: string): Result<never, FluzoError> {
  return err({ type: "usage", message, hint });
}
