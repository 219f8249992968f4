import type { Clock, Timers } from "../../core/clock.ts";
import { err, ok } from "../../core/result.ts";
import type { CommandRunner } from "../tools/effects.ts";
import { commandBinding } from "./command_binding.ts";
import { childEnvironment, type EnvironmentSources } from "./environment.ts";
import type { OwnedProcesses } from "./owned_processes.ts";
import { resolveExecutable } from "./resolve_executable.ts";
import { runProcess } from "./run_process.ts";

/** Runs the commands of tools in a workspace, each in the documented environment. */
export function commandRunner(options: {
  readonly root: string;
  readonly processes: OwnedProcesses;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly graceMs: number;
  readonly environment: EnvironmentSources;
}): CommandRunner {
  const { root, processes, clock, timers, graceMs } = options;
  const environment = childEnvironment(options.environment);
  const path = environment["PATH"] ?? "";
  const resolve: CommandRunner["resolve"] = async (executable, cwd) => {
    const folder = await folderInside(root, cwd);
    if (folder === null) {
      return err({ type: "process", reason: "outside_workspace", executable, detail: cwd });
    }
    const found = await resolveExecutable(executable, { path, cwd: folder });
    if (!found.ok) return found;
    const binding = await commandBinding(
      { program: found.value, cwd: folder },
      options.environment,
    );
    return ok({ path: found.value, binding });
  };
  return {
    resolve,
    endLeft: (operations, force) => processes.end(operations, { graceMs, force }),
    run: async (request, controls) => {
      const [executable = "", ...args] = request.argv;
      const found = await resolve(executable, request.cwd);
      if (!found.ok) return found;
      if (found.value.binding !== request.binding) {
        return err({
          type: "process",
          reason: "program_changed",
          executable,
          detail: found.value.path,
        });
      }
      return await runProcess({
        operationId: request.operationId,
        executable: found.value.path,
        args,
        cwd: request.cwd === "." ? root : `${root}/${request.cwd}`,
        env: { ...environment, ...Object.fromEntries(request.env) },
        timeoutMs: request.timeoutMs,
        graceMs,
        captureBytes: request.captureBytes,
      }, { processes, clock, timers, ...controls });
    },
  };
}

/** The real path of a folder, when it is beneath the root; null otherwise. */
async function folderInside(root: string, cwd: string): Promise<string | null> {
  if (cwd.startsWith("/") || cwd.split("/").includes("..")) return null;
  try {
    const real = await Deno.realPath(cwd === "." ? root : `${root}/${cwd}`);
    return real === root || real.startsWith(`${root}/`) ? real : null;
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound || failure instanceof Deno.errors.NotADirectory) {
      return null;
    }
    throw failure;
  }
}
