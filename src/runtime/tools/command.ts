import { gitActionOf } from "../../core/policy/git_command.ts";
import type { OperationId } from "../../core/ids.ts";
import { describeLeft } from "../../core/left_processes.ts";
import { ok, type Result } from "../../core/result.ts";
import type { ProcessOutcome } from "../processes/run_process.ts";
import type { ToolEffects } from "./effects.ts";
import { tidyPath } from "./_paths.ts";
import { failed, refuse } from "./_refusals.ts";
import type { Arguments, Fields } from "./parameters.ts";
import type { PreparedOperation, Refusal, ToolReport } from "./tool.ts";

/** Longest time a model may ask for, in seconds; the configured default applies otherwise. */
const MAX_TIMEOUT_SECONDS = 3600;

/** Where and how long a command runs: parameters of every tool that runs one. */
export const COMMAND_FIELDS = {
  cwd: { type: "string", text: "Folder to run in, the root if left out", optional: true },
  timeout_seconds: {
    type: "integer",
    text: "Time limit",
    minimum: 1,
    maximum: MAX_TIMEOUT_SECONDS,
    optional: true,
  },
} as const satisfies Fields;

/** The values of `COMMAND_FIELDS`, with their defaults. */
export function commandPlace(
  args: Arguments<typeof COMMAND_FIELDS>,
  effects: ToolEffects,
): Pick<CommandCall, "cwd" | "timeoutMs"> {
  return {
    cwd: tidyPath(args.cwd ?? ".", effects.root),
    timeoutMs: args.timeout_seconds === null
      ? effects.caps.shellTimeoutMs
      : args.timeout_seconds * 1000,
  };
}

/** A command as the model asked for it. */
export interface CommandCall {
  readonly operationId: OperationId;
  readonly mode: "direct" | "shell";
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
}

/** Prepares a command: the executable must be there, nothing is started. */
export async function prepareCommand(
  call: CommandCall,
  effects: ToolEffects,
): Promise<Result<PreparedOperation, Refusal>> {
  const executable = call.argv[0] ?? "";
  const resolved = await effects.commands.resolve(executable, call.cwd);
  if (!resolved.ok) return refuse(resolved.error);
  return ok({
    scope: {
      type: "command",
      mode: call.mode,
      argv: call.argv,
      cwd: call.cwd,
      env: [],
      git: gitActionOf(call.argv),
      binding: resolved.value.binding,
    },
    before: null,
    after: null,
    preImage: null,
    perform: async (controls) => {
      const ran = await effects.commands.run({
        operationId: call.operationId,
        argv: call.argv,
        cwd: call.cwd,
        env: [],
        binding: resolved.value.binding,
        timeoutMs: call.timeoutMs,
        captureBytes: effects.caps.captureBytes,
      }, controls);
      return ran.ok ? commandReport(ran.value) : failed(ran.error);
    },
    discard: () => Promise.resolve(),
  });
}

/** What a command's outcome means for the model and for people. */
export function commandReport(outcome: ProcessOutcome): ToolReport {
  const ending = describeEnding(outcome);
  const parts = [ending];
  if (outcome.stdout !== "") parts.push(outcome.stdout);
  if (outcome.stderr !== "") parts.push(`[standard error]\n${outcome.stderr}`);
  if (outcome.stdout === "" && outcome.stderr === "") parts.push("(no output)");
  const text = parts.join("\n");
  const succeeded = outcome.exit.type === "code" && outcome.exit.code === 0;
  return {
    outcome: outcome.ended === "aborted" ? "interrupted" : succeeded ? "ok" : "error",
    text,
    summary: ending,
    exitCode: outcome.exit.type === "code" ? outcome.exit.code : null,
    error: null,
    left: outcome.left,
    capture: {
      bytes: new TextEncoder().encode(text),
      droppedBytes: outcome.droppedBytes,
    },
  };
}

function describeEnding(outcome: ProcessOutcome): string {
  const seconds = (outcome.durationMs / 1000).toFixed(1);
  const facts = [describeExit(outcome), `${seconds} s`];
  if (outcome.droppedBytes > 0) facts.push(`${outcome.droppedBytes} bytes of output left out`);
  const left = describeLeft(outcome.left);
  if (left !== null) facts.push(left);
  else if (outcome.outputHeld) facts.push("a process that cannot be found still holds the output");
  return facts.join(", ");
}

function describeExit({ exit, ended }: ProcessOutcome): string {
  if (ended === "timed_out") return "Timed out and was ended";
  if (ended === "aborted") return "Interrupted by the user, effects possible";
  switch (exit.type) {
    case "code":
      return `Exit code ${exit.code}`;
    case "signal":
      return `Ended by ${exit.signal}`;
    case "unknown":
      return "It is not known how it ended";
  }
}
