import type { OperationId } from "./ids.ts";

/** What tells a process apart from every other one, also from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in the kernel's ticks since the boot; a decimal number. */
  readonly startTicks: string;
  /** The boot of the machine; empty where the kernel does not tell. */
  readonly bootId: string;
}

/** A process of a command that was seen alive when the command was over. */
export interface LeftProcess extends ProcessIdentity {
  /** Its words in one line, of untrusted origin: sanitise where it is shown. */
  readonly command: string;
}

/** All that was seen alive: those that are named, and how many there were beyond the bound. */
export interface LeftProcesses {
  readonly processes: readonly LeftProcess[];
  readonly more: number;
}

/** What is alive of an operation. */
export interface OperationLeft {
  readonly operationId: OperationId;
  readonly left: LeftProcesses;
}

/** An operation whose processes were ended: what is left, and what was named before. */
export interface EndedOperation extends OperationLeft {
  readonly before: LeftProcesses;
}

/** Processes that are named one by one: what a person can go through. */
export const MAX_NAMED_PROCESSES = 32;

/** Units of one command line in a text for people. */
const MAX_COMMAND_UNITS = 120;

export const NONE_LEFT: LeftProcesses = { processes: [], more: 0 };

/** Names what is left in one line; null when nothing is. */
export function describeLeft({ processes, more }: LeftProcesses): string | null {
  if (processes.length === 0 && more === 0) return null;
  const named = processes.map(describeProcess);
  if (more > 0) named.push(`${more} more`);
  return `still running: ${named.join(", ")}`;
}

/** One process for people. */
export function describeProcess({ pid, command }: LeftProcess): string {
  const short = command.length <= MAX_COMMAND_UNITS
    ? command
    : `${command.slice(0, MAX_COMMAND_UNITS)}...`;
  return `process ${pid} (${short})`;
}

/** The same list with the words of each process redacted: a command line may hold a secret. */
export function redactLeft(
  { processes, more }: LeftProcesses,
  redact: (text: string) => string,
): LeftProcesses {
  return {
    processes: processes.map((process) => ({ ...process, command: redact(process.command) })),
    more,
  };
}

/** Whether two lists name the same processes, in whatever order. */
export function sameLeft(a: LeftProcesses, b: LeftProcesses): boolean {
  const keys = ({ processes, more }: LeftProcesses): string =>
    JSON.stringify([
      processes.map(({ pid, startTicks, bootId }) => `${bootId} ${pid} ${startTicks}`).sort(),
      more,
    ]);
  return keys(a) === keys(b);
}
