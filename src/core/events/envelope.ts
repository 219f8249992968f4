import type { AttemptId, EventId, SessionId, TaskId } from "../ids.ts";
import type { DomainEvent } from "./event.ts";
import type { RecordedEvent } from "./recorded.ts";

/** Version of the event format; a reader refuses a newer one. */
export const EVENT_SCHEMA_VERSION = 1;

/** Whom an event belongs to, where that is not in the event itself. */
export interface EventContext {
  readonly sessionId: SessionId | null;
  readonly taskId: TaskId | null;
  readonly attemptId: AttemptId | null;
  /** 32 hexadecimal digits, or null outside an attempt. */
  readonly traceId: string | null;
  /** 16 hexadecimal digits of the span that caused the event, or null. */
  readonly spanId: string | null;
}

/** An event on its way to the store. */
export interface EventDraft {
  readonly id: EventId;
  readonly wallMs: number;
  readonly context: EventContext;
  readonly event: DomainEvent;
}

/**
 * A committed event. `sequence` is strictly ascending in one database, and a gap is a session that
 * was deleted; order by it, never by `wallMs`. Message contents are left out of `event` (their size is told instead); what
 * `context` of the draft left open but the event implies is filled in.
 */
export interface EventEnvelope extends Omit<EventDraft, "event"> {
  readonly event: RecordedEvent;
  readonly schemaVersion: number;
  readonly sequence: number;
}
