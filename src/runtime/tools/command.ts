import { gitActionOf } from "../../core/policy/git_command.ts";
import { ok, type Result } from "../../core/result.ts";
import type { CommandOutcome, ToolEffects } from "./effects.ts";
import { failed, refuse } from "./_refusals.ts";
import type { PreparedOperation, Refusal, ToolReport } from "./tool.ts";

/** A command as the model asked for it. */
export interface CommandCall {
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
    },
    before: null,
    after: null,
    preImage: null,
    perform: async (options) => {
      const ran = await effects.commands.run({
        argv: call.argv,
        cwd: call.cwd,
        env: [],
        timeoutMs: call.timeoutMs,
        captureBytes: effects.caps.captureBytes,
      }, options);
      return ran.ok ? commandReport(ran.value) : failed(ran.error);
    },
    discard: () => Promise.resolve(),
  });
}

/** What a command's outcome means for the model and for people. */
export function commandReport(outcome: CommandOutcome): ToolReport {
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
    capture: {
      bytes: new TextEncoder().encode(text),
      droppedBytes: outcome.droppedBytes,
    },
  };
}

function describeEnding(outcome: CommandOutcome): string {
  const seconds = (outcome.durationMs / 1000).toFixed(1);
  const facts = [describeExit(outcome), `${seconds} s`];
  if (outcome.droppedBytes > 0) facts.push(`${outcome.droppedBytes} bytes of output left out`);
  if (outcome.leftRunning !== null) facts.push(outcome.leftRunning);
  return facts.join(", ");
}

function describeExit({ exit, ended }: CommandOutcome): string {
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
