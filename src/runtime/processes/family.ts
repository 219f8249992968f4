import type { ProcessRow } from "../linux/process_table.ts";

/** What proves that a process belongs to a command. */
export interface FamilyEvidence {
  /** The number of this process: what it adopts becomes its child. */
  readonly self: number;
  /** The first process of the command: the leader of its session and group. */
  readonly leader: Pick<ProcessRow, "pid" | "startTicks">;
  /** Members that an earlier look has found, start ticks by number. */
  readonly known: ReadonlyMap<number, string>;
  /** Whether a process carries the command's marker in its environment. */
  readonly marked: (row: ProcessRow) => boolean;
  /**
   * Whether a child of this process in a session of its own, which nobody accounts for, was adopted
   * from the command. True only where this program starts no such children itself.
   */
  readonly strayed: (row: ProcessRow) => boolean;
}

/**
 * Finds the family of a command among all processes. A number alone never makes a member: it takes
 * a start time seen before, a parent that is one, the marker, or that the process is ours by the
 * kernel's account (adopted) and of the command's session or group. A number given out again fails
 * all four, since nothing older than the command can belong to it.
 */
export function findFamily(
  rows: readonly ProcessRow[],
  evidence: FamilyEvidence,
): readonly ProcessRow[] {
  const { leader } = evidence;
  const oldest = Number(leader.startTicks);
  const candidates = rows.filter(({ startTicks }) => Number(startTicks) >= oldest);
  const members = new Map<number, ProcessRow>();
  const children = new Map<number, ProcessRow[]>();
  for (const row of candidates) {
    const siblings = children.get(row.parent);
    if (siblings === undefined) children.set(row.parent, [row]);
    else siblings.push(row);
  }
  const add = (row: ProcessRow): void => {
    const open = [row];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (members.has(next.pid)) continue;
      members.set(next.pid, next);
      open.push(...children.get(next.pid) ?? []);
    }
  };
  // The cheap proofs first: the marker has to be read from each process.
  for (const row of candidates) if (isKnown(row, evidence)) add(row);
  for (const row of candidates) {
    if (!members.has(row.pid) && row.state === "running" && evidence.marked(row)) add(row);
  }
  for (const row of candidates) {
    if (members.has(row.pid) || row.parent !== evidence.self) continue;
    if (evidence.strayed(row)) add(row);
  }
  return [...members.values()];
}

function isKnown(row: ProcessRow, { self, leader, known }: FamilyEvidence): boolean {
  if (row.pid === leader.pid) return row.startTicks === leader.startTicks;
  if (known.get(row.pid) === row.startTicks) return true;
  return row.parent === self && (row.session === leader.pid || row.group === leader.pid);
}
