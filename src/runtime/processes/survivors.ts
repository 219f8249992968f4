import type { OperationId } from "../../core/ids.ts";
import {
  type LeftProcess,
  type LeftProcesses,
  MAX_NAMED_PROCESSES,
  NONE_LEFT,
  type OperationLeft,
  type ProcessIdentity,
} from "../../core/left_processes.ts";
import type { Timers } from "../../core/clock.ts";
import { bootId } from "../linux/process_identity.ts";
import { commandLine, type ProcessRow, readVariable } from "../linux/process_table.ts";
import { OPERATION_VARIABLE } from "./owned_command.ts";
import { readTable } from "./table.ts";

/** What the journal knows of the processes of an operation. */
export interface RecordedProcesses {
  readonly id: OperationId;
  readonly first: ProcessIdentity | null;
  readonly left: LeftProcesses;
}

/**
 * Looks which processes of operations are still alive although Fluzo began anew: those with a
 * recorded number whose start and boot are the same, and those that carry the operation in their
 * environment. A number alone names nobody, and nobody is signalled.
 */
export async function findSurvivors(
  recorded: readonly RecordedProcesses[],
  timers: Timers,
): Promise<readonly OperationLeft[]> {
  if (recorded.length === 0) return [];
  const boot = bootId();
  // Of another boot nothing can be alive; one that was not written down may be of this one.
  const possible = recorded.filter(({ first, left }) =>
    first === null || first.bootId === boot || left.processes.some(({ bootId }) => bootId === boot)
  );
  const alive = possible.length === 0 ? [] : await running(timers);
  return recorded.map((operation) => ({
    operationId: operation.id,
    left: possible.includes(operation) ? nameAlive(alive, { operation, boot }) : NONE_LEFT,
  }));
}

interface Candidate {
  readonly row: ProcessRow;
  /** The operation its environment names. */
  readonly marker: string | null;
}

async function running(timers: Timers): Promise<readonly Candidate[]> {
  const { rows } = await readTable(timers);
  return rows
    .filter(({ state, pid }) => state === "running" && pid !== Deno.pid)
    .map((row) => ({ row, marker: readVariable(row.pid, OPERATION_VARIABLE) }));
}

function nameAlive(
  alive: readonly Candidate[],
  { operation, boot }: { readonly operation: RecordedProcesses; readonly boot: string },
): LeftProcesses {
  const known = [...operation.left.processes, ...operation.first === null ? [] : [operation.first]]
    .filter(({ bootId }) => bootId === boot);
  const found = alive.filter(({ row, marker }) =>
    marker === operation.id ||
    known.some(({ pid, startTicks }) => row.pid === pid && row.startTicks === startTicks)
  );
  return {
    processes: found.slice(0, MAX_NAMED_PROCESSES).map(({ row }): LeftProcess => ({
      pid: row.pid,
      startTicks: row.startTicks,
      bootId: boot,
      command: commandLine(row),
    })),
    more: Math.max(0, found.length - MAX_NAMED_PROCESSES),
  };
}
