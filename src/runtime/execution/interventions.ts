import type { InterventionId } from "../../core/ids.ts";
import type { QueuedMessage } from "../../core/port/read_models.ts";

/** Messages one task may have waiting: more than that is not a conversation. */
export const MAX_QUEUED_MESSAGES = 32;

/** One message, in UTF-16 units; longer material belongs into a file. */
export const MAX_QUEUED_UNITS = 32_768;

/**
 * Messages of the user to a running attempt, in order. They may be changed and taken back until
 * the attempt takes them at its next safe boundary.
 */
export class Interventions {
  #queue: readonly QueuedMessage[] = [];

  get queued(): readonly QueuedMessage[] {
    return this.#queue;
  }

  has(id: InterventionId): boolean {
    return this.#queue.some((message) => message.id === id);
  }

  add(message: QueuedMessage): void {
    this.#queue = [...this.#queue, message];
  }

  edit(id: InterventionId, text: string): void {
    this.#queue = this.#queue.map((message) => message.id === id ? { id, text } : message);
  }

  remove(id: InterventionId): void {
    this.#queue = this.#queue.filter((message) => message.id !== id);
  }

  /** Takes all of them: from now on they can no longer be changed. */
  take(): readonly QueuedMessage[] {
    const taken = this.#queue;
    this.#queue = [];
    return taken;
  }
}
