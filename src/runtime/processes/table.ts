import type { Timers } from "../../core/clock.ts";
import { processIds, type ProcessRow, readProcess } from "../linux/process_table.ts";

/** Lines read in one go: about 4 ms, a quarter of a frame. */
const ROWS_AT_ONCE = 256;

/** The processes of this machine, with what makes the table uncertain. */
export interface ProcessTable {
  readonly rows: readonly ProcessRow[];
  /** Processes that ended between the listing and the look: one may have left a child unseen. */
  readonly vanished: number;
}

/** Reads the whole table in slices, so that the isolate stays free. */
export async function readTable(timers: Timers): Promise<ProcessTable> {
  const rows: ProcessRow[] = [];
  let vanished = 0;
  for (const [index, pid] of processIds().entries()) {
    if (index > 0 && index % ROWS_AT_ONCE === 0) {
      await new Promise<void>((resolve) => timers.after(0, resolve));
    }
    const row = readProcess(pid);
    if (row === null) vanished++;
    else rows.push(row);
  }
  return { rows, vanished };
}
