import type { TaskId } from "../../core/ids.ts";
import type { Subscription, Update } from "../../core/port/application.ts";

/** Updates one subscriber may have waiting: seconds of a fast stream, since text is merged. */
const MAX_WAITING_UPDATES = 1024;

/** Text one subscriber may have waiting, in UTF-16 units; an event counts as `EVENT_WEIGHT`. */
const MAX_WAITING_UNITS = 1 << 20;

/** Weight of an update that is not text: about the size of a small event. */
const EVENT_WEIGHT = 512;

/**
 * Delivers updates to subscribers. Delivery never waits: neighbouring text of one channel is
 * merged, and a subscriber that falls behind a bound loses what waits and is told `lagged`, so a
 * slow screen cannot hold up a task or grow memory. The journal is not affected.
 */
export class UpdateHub {
  readonly #subscribers = new Map<TaskId, Set<UpdateQueue>>();

  publish(taskId: TaskId, update: Update): void {
    for (const queue of this.#subscribers.get(taskId) ?? []) queue.push(update);
  }

  subscribe(taskId: TaskId): Subscription {
    const queue = new UpdateQueue(() => {
      const queues = this.#subscribers.get(taskId);
      queues?.delete(queue);
      if (queues?.size === 0) this.#subscribers.delete(taskId);
    });
    const queues = this.#subscribers.get(taskId) ?? new Set();
    queues.add(queue);
    this.#subscribers.set(taskId, queues);
    return queue;
  }
}

class UpdateQueue implements Subscription {
  readonly #onClose: () => void;
  #waiting: Update[] = [];
  #units = 0;
  #lastSequence = 0;
  #wake: (() => void) | null = null;
  #closed = false;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  push(update: Update): void {
    if (this.#closed) return;
    this.#units += weigh(update);
    if (!this.#merge(update)) this.#waiting.push(update);
    if (this.#waiting.length > MAX_WAITING_UPDATES || this.#units > MAX_WAITING_UNITS) {
      this.#waiting = [{ type: "lagged", sinceSequence: this.#lastSequence }];
      this.#units = EVENT_WEIGHT;
    }
    this.#wake?.();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    this.#onClose();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Update[]> {
    while (true) {
      if (this.#waiting.length > 0) {
        const batch = this.#waiting;
        this.#waiting = [];
        this.#units = 0;
        for (const update of batch) {
          if (update.type === "event") this.#lastSequence = update.envelope.sequence;
        }
        yield batch;
        continue;
      }
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  /** Joins text to the newest waiting update of the same channel. */
  #merge(update: Update): boolean {
    const last = this.#waiting.at(-1);
    if (last === undefined) return false;
    const joined = join(last, update);
    if (joined === null) return false;
    this.#waiting[this.#waiting.length - 1] = joined;
    return true;
  }
}

function join(last: Update, next: Update): Update | null {
  if (last.type === "text" && next.type === "text") {
    return last.messageId === next.messageId && last.channel === next.channel
      ? { ...last, text: last.text + next.text }
      : null;
  }
  if (last.type === "output" && next.type === "output") {
    return last.operationId === next.operationId ? { ...last, text: last.text + next.text } : null;
  }
  return null;
}

function weigh(update: Update): number {
  switch (update.type) {
    case "text":
    case "output":
    case "status":
      return update.text.length;
    case "message":
      return update.message.text.length + EVENT_WEIGHT;
    case "event":
    case "lagged":
      return EVENT_WEIGHT;
  }
}
