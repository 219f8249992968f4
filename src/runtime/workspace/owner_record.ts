import { type InstanceId, parseId, type TaskId } from "../../core/ids.ts";
import { bootId, processStartTicks } from "../linux/process_identity.ts";

/** Name of the record in the data directory. */
const RECORD_FILE = "owner.json";

/** Largest record that is read, in bytes: far above a long socket path. */
const MAX_RECORD_BYTES = 16_384;

/** Where the owner answers other terminals. */
export type ControlPlace =
  | { readonly type: "listening"; readonly path: string; readonly protocol: number }
  /** Not open yet; an owner that only writes an answer to the journal never opens one. */
  | { readonly type: "starting" }
  /** It cannot, and why. */
  | { readonly type: "unavailable"; readonly reason: string };

/**
 * What the owner of a workspace says of itself. It proves nothing: that somebody owns the workspace
 * is proven by the kernel lock, and who answers at the socket by the instance id.
 */
export interface OwnerRecord {
  readonly instanceId: InstanceId;
  readonly pid: number;
  /** Clock ticks from the boot to the start of the process. */
  readonly startTicks: string;
  readonly bootId: string;
  /** When the host began, milliseconds since the epoch. */
  readonly startedWallMs: number;
  /** The task at work, or null. */
  readonly task: TaskId | null;
  readonly control: ControlPlace;
}

/** The record of this process. */
export function ownRecord(
  instanceId: InstanceId,
  startedWallMs: number,
): OwnerRecord {
  return {
    instanceId,
    pid: Deno.pid,
    startTicks: processStartTicks(Deno.pid) ?? "",
    bootId: bootId(),
    startedWallMs,
    task: null,
    control: { type: "starting" },
  };
}

/** Whether the process that a record names is there now, and is that one and no later one. */
export function namesLivingProcess(record: OwnerRecord): boolean {
  return record.startTicks !== "" && record.bootId === bootId() &&
    record.startTicks === processStartTicks(record.pid);
}

/** Reads the record; null when there is none, or none that was written whole and privately. */
export function readOwnerRecord(directory: string): OwnerRecord | null {
  const path = `${directory}/${RECORD_FILE}`;
  try {
    const info = Deno.lstatSync(path);
    const shared = info.mode === null || (info.mode & 0o077) !== 0;
    if (!info.isFile || info.uid !== Deno.uid() || shared || info.size > MAX_RECORD_BYTES) {
      return null;
    }
    return parseRecord(JSON.parse(Deno.readTextFileSync(path)));
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound || failure instanceof SyntaxError) return null;
    throw failure;
  }
}

/**
 * Writes the record, private and whole: a reader sees the old one or the new one. It is not synced:
 * after a loss of power there is no owner that it could tell about.
 */
export function writeOwnerRecord(directory: string, record: OwnerRecord): void {
  // One owner at a time writes, so one name is enough; what a crash left of it is replaced.
  const temporary = `${directory}/${RECORD_FILE}.new`;
  removeIfThere(temporary);
  const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`);
  Deno.writeFileSync(temporary, bytes, { createNew: true, mode: 0o600 });
  Deno.renameSync(temporary, `${directory}/${RECORD_FILE}`);
}

/** Removes the record: nobody owns the workspace any more. */
export function removeOwnerRecord(directory: string): void {
  removeIfThere(`${directory}/${RECORD_FILE}`);
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (failure) {
    if (!(failure instanceof Deno.errors.NotFound)) throw failure;
  }
}

function parseRecord(value: unknown): OwnerRecord | null {
  if (!isObject(value)) return null;
  const { pid, startTicks, bootId, startedWallMs } = value;
  const instanceId = parseId("instance", String(value.instanceId));
  const task = value.task === null ? null : parseId("task", String(value.task));
  const control = parseControl(value.control);
  if (
    instanceId === null || control === null || (task === null && value.task !== null) ||
    !Number.isSafeInteger(pid) ||
    typeof pid !== "number" || typeof startedWallMs !== "number" ||
    typeof startTicks !== "string" || typeof bootId !== "string"
  ) return null;
  return { instanceId, pid, startTicks, bootId, startedWallMs, task, control };
}

function parseControl(value: unknown): ControlPlace | null {
  if (!isObject(value)) return null;
  switch (value.type) {
    case "listening": {
      const { path, protocol } = value;
      return typeof path === "string" && path.startsWith("/") && typeof protocol === "number"
        ? { type: "listening", path, protocol }
        : null;
    }
    case "starting":
      return { type: "starting" };
    case "unavailable":
      return typeof value.reason === "string"
        ? { type: "unavailable", reason: value.reason }
        : null;
    default:
      return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
