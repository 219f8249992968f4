import type { Clock, Timers } from "../../core/clock.ts";
import type { OperationId } from "../../core/ids.ts";
import {
  type LeftProcess,
  type LeftProcesses,
  MAX_NAMED_PROCESSES,
  NONE_LEFT,
  type ProcessIdentity,
} from "../../core/left_processes.ts";
import { reapProcess } from "../linux/pidfd.ts";
import { commandLine, openExactly, type ProcessRow, readVariable } from "../linux/process_table.ts";
import { allEnded } from "./exits.ts";
import { findFamily } from "./family.ts";
import { isGroupAlive, signalAll } from "./signals.ts";
import { readTable } from "./table.ts";

/** Says in a child's environment which operation it belongs to: its descendants carry it on. */
export const OPERATION_VARIABLE = "FLUZO_OPERATION";

/** How long killed processes may take to be gone before they are named as left, in milliseconds. */
const KILL_WAIT_MS = 2000;

/** Processes that are waited for at a time: each takes a file descriptor. */
const MAX_WAITED = 64;

/**
 * Looks in a row that find nothing but cannot be sure. Each pause is twice as long as the one
 * before: a quarter of a second in all.
 */
const MAX_LOOKS = 8;

/**
 * Looks in a row without doubt that make an end sure. One can miss a process in the middle of `exec`,
 * which has neither its old environment nor its new one for a moment.
 */
const SURE_LOOKS = 3;

/** As `MAX_LOOKS`, where only other processes vanished under the look: they are seldom ours. */
const MAX_QUICK_LOOKS = 2;

/** When a running command is looked at first, and then how often, in milliseconds. */
const FIRST_LOOK_MS = 250;
const NEXT_LOOK_MS = 2000;

/** What all commands of a host share. */
export interface OwnedSurroundings {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The number of this process. */
  readonly self: number;
  /** Whether a stray child of this process was adopted from the command. */
  readonly strayed: (row: ProcessRow, command: OwnedCommand) => boolean;
  /** Told once nothing of the command is left. */
  readonly onGone: (command: OwnedCommand) => void;
}

/** How a command is ended. */
export interface EndOptions {
  /** Time between the request and the kill. */
  readonly graceMs: number;
  /** Ends the grace at once. */
  readonly force: AbortSignal;
}

/** How sure a look must be that there is nothing. A command that is ended is looked for harder. */
type Care = "quick" | "thorough";

/**
 * Why a look that found nothing may be wrong: a process of any kind `vanished` under it and may have
 * left a child behind the look, or the kernel knows of a member of the group that stayed `hidden`.
 */
type Doubt = "none" | "vanished" | "hidden";

/**
 * The processes of one command, from its start until none is left. They are identified by number
 * and start time and signalled through handles, so that no number reaches a stranger; the group as
 * a whole is signalled only while a process that is proven to belong holds its number.
 */
export class OwnedCommand {
  readonly identity: ProcessIdentity;
  readonly operationId: OperationId;
  readonly #around: OwnedSurroundings;
  #known: ReadonlyMap<number, string>;
  #looking: Promise<readonly ProcessRow[]> = Promise.resolve([]);
  #cancelSample: () => void = () => {};
  #named: LeftProcesses = NONE_LEFT;
  #leaderRuns = true;
  #gone = false;

  constructor(
    { identity, operationId }: {
      readonly identity: ProcessIdentity;
      readonly operationId: OperationId;
    },
    around: OwnedSurroundings,
  ) {
    this.identity = identity;
    this.operationId = operationId;
    this.#around = around;
    this.#known = new Map([[identity.pid, identity.startTicks]]);
    this.#sampleAfter(FIRST_LOOK_MS);
  }

  /** Whether a process was a member when the command was looked at last. */
  knows({ pid, startTicks }: ProcessRow): boolean {
    return this.#known.get(pid) === startTicks;
  }

  /** Ends the regular looks: the first process is gone, and with it what could start more. */
  leaderEnded(): void {
    this.#leaderRuns = false;
    this.#cancelSample();
  }

  /** Takes the entries of adopted processes that have ended. Failing is harmless: a later look does. */
  tidy(): void {
    this.#look("quick").catch(() => []);
  }

  /** Looks for what is alive, and names it. Nothing alive: the command is forgotten. */
  async left(): Promise<LeftProcesses> {
    const alive = await this.#look("quick");
    const { bootId } = this.identity;
    this.#named = {
      processes: alive.slice(0, MAX_NAMED_PROCESSES).map((row): LeftProcess => ({
        pid: row.pid,
        startTicks: row.startTicks,
        bootId,
        command: commandLine(row),
      })),
      more: Math.max(0, alive.length - MAX_NAMED_PROCESSES),
    };
    return this.#named;
  }

  /** What `left` and `end` named last. */
  get named(): LeftProcesses {
    return this.#named;
  }

  /**
   * Asks all processes to end, kills after the grace what still runs, and says what is left then:
   * seen, never assumed.
   */
  async end({ graceMs, force }: EndOptions): Promise<LeftProcesses> {
    if (!await this.#press("SIGTERM", { withinMs: graceMs, force })) {
      await this.#press("SIGKILL", { withinMs: KILL_WAIT_MS, force: NEVER });
    }
    return await this.left();
  }

  /** Signals what is alive and waits, until nothing is or the time is up. True when nothing is. */
  async #press(
    signal: "SIGTERM" | "SIGKILL",
    { withinMs, force }: { readonly withinMs: number; readonly force: AbortSignal },
  ): Promise<boolean> {
    const { clock, timers } = this.#around;
    const untilMs = clock.monotonicMs() + withinMs;
    const asked = new Set<string>();
    while (true) {
      const alive = await this.#look("thorough");
      if (alive.length === 0) return true;
      const restMs = untilMs - clock.monotonicMs();
      if (restMs <= 0 || force.aborted) return false;
      // Asked once: many programs take a second request for impatience. Killed until it works.
      const targets = signal === "SIGKILL"
        ? alive
        : alive.filter(({ pid, startTicks }) => !asked.has(`${pid} ${startTicks}`));
      signalAll(targets, {
        signal,
        groupId: signal === "SIGKILL" || asked.size === 0 ? this.identity.pid : null,
      });
      for (const { pid, startTicks } of alive) asked.add(`${pid} ${startTicks}`);
      const handles = alive.slice(0, MAX_WAITED).map(openExactly).filter((fd) => fd !== null);
      try {
        await allEnded(handles, { withinMs: restMs, force, timers });
      } finally {
        for (const handle of handles) handle.close();
      }
    }
  }

  /** Looks one after the other: two at once would take each other's ended children. */
  #look(care: Care): Promise<readonly ProcessRow[]> {
    const next = this.#looking.then(() => this.#lookUntilSure(care));
    this.#looking = next.catch(() => []);
    return next;
  }

  async #lookUntilSure(care: Care): Promise<readonly ProcessRow[]> {
    if (this.#gone) return [];
    const { timers } = this.#around;
    let sure = 0;
    for (let looks = 1;; looks++) {
      const { alive, doubt } = await this.#lookOnce();
      if (alive.length > 0) return alive;
      sure = doubt === "none" ? sure + 1 : 0;
      const limit = doubt === "vanished" && care === "quick" ? MAX_QUICK_LOOKS : MAX_LOOKS;
      const isSure = sure >= (care === "quick" ? 1 : SURE_LOOKS);
      if (isSure || care === "thorough" && looks >= limit) {
        this.#gone = true;
        this.leaderEnded();
        this.#around.onGone(this);
        return alive;
      }
      // Not sure, so not forgotten: the next command's start or the end of all looks again.
      if (looks >= limit) return alive;
      await new Promise<void>((resolve) => timers.after(2 ** (looks - 1), resolve));
    }
  }

  async #lookOnce(): Promise<{ readonly alive: readonly ProcessRow[]; readonly doubt: Doubt }> {
    const { timers, self, strayed } = this.#around;
    const { rows, vanished } = await readTable(timers);
    const family = findFamily(rows, {
      self,
      leader: this.identity,
      known: this.#known,
      marked: ({ pid }) => readVariable(pid, OPERATION_VARIABLE) === this.operationId,
      strayed: (row) => strayed(row, this),
    });
    const alive = family.filter(({ state }) => state === "running");
    this.#known = new Map(alive.map(({ pid, startTicks }) => [pid, startTicks]));
    // Deno takes the status of the leader; the rest of our children were adopted.
    const taken = new Set<number>();
    for (const row of family) {
      if (row.state === "running" || row.parent !== self) continue;
      if (row.pid === this.identity.pid) continue;
      using process = openExactly(row);
      if (process !== null && reapProcess(process)) taken.add(row.pid);
    }
    const groupId = this.identity.pid;
    // The kernel knows of a member that the table did not show: it came between two lines.
    const hidden = isGroupAlive(groupId) &&
      !rows.some(({ pid, group }) => group === groupId && !taken.has(pid));
    return { alive, doubt: hidden ? "hidden" : vanished > 0 ? "vanished" : "none" };
  }

  #sampleAfter(delayMs: number): void {
    this.#cancelSample = this.#around.timers.after(delayMs, () => {
      // What a look cannot do now, the one at the end meets again and tells.
      this.#look("quick").catch(() => []).then(() => {
        if (this.#leaderRuns) this.#sampleAfter(NEXT_LOOK_MS);
      });
    });
  }
}

const NEVER = new AbortController().signal;
