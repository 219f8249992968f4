import type { Clock } from "../../core/clock.ts";
import { FluzoFailure } from "../../core/errors.ts";
import {
  EVENT_SCHEMA_VERSION,
  type EventContext,
  type EventDraft,
} from "../../core/events/envelope.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import { recordedEvent } from "../../core/events/recorded.ts";
import type { IdSource } from "../../core/ids.ts";
import type { SpanContext } from "../../core/telemetry/telemetry.ts";
import type { UpdateHub } from "../application/update_hub.ts";
import type { JournalWriter } from "../storage/journal.ts";

interface JournalServices {
  readonly writer: JournalWriter;
  readonly updates: UpdateHub;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** A journal for what happens to tasks at rest: it belongs to no attempt and no trace. */
export function restingJournal(services: JournalServices): TaskJournal {
  return new TaskJournal(services, {
    sessionId: null,
    taskId: null,
    attemptId: null,
    traceId: null,
    spanId: null,
  });
}

/**
 * Writes the events of one attempt. An event is published to subscribers only after the store
 * confirmed its commit, and a store that cannot confirm throws: nothing may be done on a guess.
 */
export class TaskJournal {
  readonly #writer: JournalWriter;
  readonly #updates: UpdateHub;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #context: EventContext;

  constructor(services: JournalServices, context: EventContext) {
    this.#writer = services.writer;
    this.#updates = services.updates;
    this.#clock = services.clock;
    this.#ids = services.ids;
    this.#context = context;
  }

  /**
   * Commits `events` in one transaction.
   *
   * @returns The sequence of the last of them.
   * @throws {FluzoFailure} With a storage error when the commit is not confirmed.
   */
  async append(events: readonly DomainEvent[], span: SpanContext | null = null): Promise<number> {
    const context = span === null ? this.#context : { ...this.#context, spanId: span.spanId };
    const drafts = events.map((event): EventDraft => ({
      id: this.#ids.next("event"),
      wallMs: this.#clock.wallMs(),
      context,
      event,
    }));
    const appended = await this.#writer.append(drafts);
    if (!appended.ok) throw new FluzoFailure(appended.error);
    const { taskId } = this.#context;
    const { lastSequence } = appended.value;
    if (taskId === null) return lastSequence;
    const first = lastSequence - drafts.length + 1;
    drafts.forEach((draft, index) => {
      this.#updates.publish(taskId, {
        type: "event",
        envelope: {
          ...draft,
          event: recordedEvent(draft.event),
          schemaVersion: EVENT_SCHEMA_VERSION,
          sequence: first + index,
        },
      });
      if (draft.event.type === "message_recorded" || draft.event.type === "message_completed") {
        const { messageId, message } = draft.event;
        this.#updates.publish(taskId, { type: "message", messageId, message });
      }
    });
    return lastSequence;
  }
}
