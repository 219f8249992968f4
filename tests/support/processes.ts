import type { OperationId } from "../../src/core/ids.ts";
import { processIds, readProcess, readVariable } from "../../src/runtime/linux/process_table.ts";
import { OPERATION_VARIABLE } from "../../src/runtime/processes/owned_command.ts";
import { type Adoption, OwnedProcesses } from "../../src/runtime/processes/owned_processes.ts";
import type { ProcessControls } from "../../src/runtime/processes/run_process.ts";
import { randomIds } from "../../src/runtime/random_ids.ts";
import { systemClock, systemTimers } from "../../src/runtime/system_clock.ts";

/** How tests end what commands left. */
export const END = { graceMs: 300, force: new AbortController().signal };

/** Commands that belong to nobody else. */
export function ownedProcesses(adoption: Adoption = "proven"): OwnedProcesses {
  return new OwnedProcesses({ clock: systemClock, timers: systemTimers, adoption });
}

/** The id of an operation that never was. */
export function newOperation(): OperationId {
  return randomIds(systemClock).next("operation");
}

/** Controls that stop nothing and tell nobody. */
export function quietControls(processes: OwnedProcesses): ProcessControls {
  return {
    processes,
    timers: systemTimers,
    clock: systemClock,
    signal: new AbortController().signal,
    force: new AbortController().signal,
    onStarted: () => {},
    onOutput: () => {},
  };
}

/** Numbers of the running processes that carry a marker, by a look of our own. */
export function markedProcesses(operationId: OperationId): readonly number[] {
  return processIds().filter((pid) =>
    readProcess(pid)?.state === "running" && readVariable(pid, OPERATION_VARIABLE) === operationId
  );
}
