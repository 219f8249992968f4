import type { Timers } from "../../core/clock.ts";
import type { OperationId } from "../../core/ids.ts";
import type { OutputTail } from "../../core/port/read_models.ts";

/** The end of an output that stays readable, in UTF-16 units: more than a screen scrolls back. */
const MAX_TAIL_UNITS = 65_536;

/** Operations whose output stays readable. */
const MAX_OPERATIONS = 16;

/** Time between two updates of one output, in milliseconds: three frames. */
const UPDATE_MS = 50;

/** Text of one update, in UTF-16 units: beyond it only the newest is told. */
const MAX_UPDATE_UNITS = 16_384;

/** The newest part of a text within a bound. */
class Tail {
  readonly #maxUnits: number;
  #text = "";
  droppedUnits = 0;

  constructor(maxUnits: number) {
    this.#maxUnits = maxUnits;
  }

  push(text: string): void {
    const whole = this.#text + text;
    let cut = Math.max(0, whole.length - this.#maxUnits);
    // Half a character would be shown as a stray sign.
    if (cut > 0 && /^[\udc00-\udfff]/.test(whole.charAt(cut))) cut++;
    this.droppedUnits += cut;
    this.#text = whole.slice(cut);
  }

  get text(): string {
    return this.#text;
  }
}

/** What is told of one running operation. */
export interface LiveOutput {
  /** Takes sanitised text. */
  push(text: string): void;
  /** Tells what is left to tell; the output stays readable. */
  end(): void;
}

/**
 * Output of operations as it comes: the newest part of each stays readable, also after its end, and
 * subscribers are told at a bounded rate and size. Nothing waits for a reader.
 */
export class LiveOutputs {
  readonly #tails = new Map<OperationId, { readonly tail: Tail; running: boolean }>();
  readonly #timers: Timers;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Begins the output of an operation. `tell` gets its updates, with a mark where text is missing. */
  begin(operationId: OperationId, tell: (text: string) => void): LiveOutput {
    const entry = { tail: new Tail(MAX_TAIL_UNITS), running: true };
    this.#tails.set(operationId, entry);
    const oldest = this.#tails.keys().next();
    if (this.#tails.size > MAX_OPERATIONS && !oldest.done) this.#tails.delete(oldest.value);
    let waiting: Tail | null = null;
    let cancel: (() => void) | null = null;
    const flush = (): void => {
      cancel?.();
      cancel = null;
      if (waiting === null) return;
      const { text, droppedUnits } = waiting;
      waiting = null;
      tell(droppedUnits === 0 ? text : `\n[... ${droppedUnits} characters left out ...]\n${text}`);
    };
    return {
      push: (text) => {
        if (text === "") return;
        entry.tail.push(text);
        waiting ??= new Tail(MAX_UPDATE_UNITS);
        waiting.push(text);
        cancel ??= this.#timers.after(UPDATE_MS, flush);
      },
      end: () => {
        entry.running = false;
        flush();
      },
    };
  }

  /** The newest output of an operation; null for one that had none here, or long ago. */
  read(operationId: OperationId): OutputTail | null {
    const entry = this.#tails.get(operationId);
    if (entry === undefined) return null;
    const { tail, running } = entry;
    return { text: tail.text, droppedUnits: tail.droppedUnits, running };
  }
}
