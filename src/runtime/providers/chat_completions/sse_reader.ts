import { createParser, ParseError } from "eventsource-parser";

/** The one buffer a stream is read into, in bytes: many small frames arrive in one read. */
const READ_BYTES = 65_536;

/** A whole stream, in bytes; a server that sends more is broken or hostile. */
const MAX_STREAM_BYTES = 256 << 20;

/** One event, in UTF-16 units: a large file written in one call, escaped. */
const MAX_EVENT_UNITS = 16 << 20;

/** What is kept of the text behind the last event, in UTF-16 units: enough for an error body. */
const MAX_TAIL_UNITS = 8192;

export interface SseHandlers {
  readonly onEvent: (data: string, name: string | undefined) => void;
  /** Something arrived that is no event: a keep-alive comment. */
  readonly onComment: () => void;
  /** Called after each network read, when all of its events were delivered. */
  readonly onRead: () => void;
  /** True ends the reading. */
  readonly isFinished: () => boolean;
}

/** What was left when a stream ended. */
export interface SseRest {
  /** Text behind the last event that is not part of one: a raw error body, say. */
  readonly tail: string;
  /** Values of lines whose field is called `error`, which is no field of the format. */
  readonly errorLines: readonly string[];
  readonly events: number;
  /** Set when a bound was exceeded; one sentence. */
  readonly overflow: string | null;
}

/**
 * Reads server-sent events. Reads are large and few: one reused buffer, decoded incrementally, and
 * all events of a read are delivered before the consumer is told once.
 *
 * @throws Whatever the body's reader throws when the connection breaks or is aborted.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  handlers: SseHandlers,
): Promise<SseRest> {
  const errorLines: string[] = [];
  let events = 0;
  let overflow: string | null = null;
  const parser = createParser({
    onEvent: ({ data, event }) => {
      events++;
      handlers.onEvent(data, event);
    },
    onComment: handlers.onComment,
    onError: (error) => {
      if (!(error instanceof ParseError) || error.type !== "unknown-field") return;
      if (error.field === "error" && error.value !== undefined) errorLines.push(error.value);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader({ mode: "byob" });
  let buffer = new Uint8Array(READ_BYTES);
  let bytes = 0;
  let tail = "";
  let openUnits = 0;
  try {
    while (!handlers.isFinished()) {
      const { value, done } = await reader.read(buffer);
      if (done || value === undefined) break;
      bytes += value.byteLength;
      const text = decoder.decode(value, { stream: true });
      buffer = new Uint8Array(value.buffer);
      const before = events;
      parser.feed(text);
      tail = events > before ? afterLastEvent(text) : tail + text;
      openUnits = events > before ? tail.length : openUnits + text.length;
      if (tail.length > MAX_TAIL_UNITS) tail = tail.slice(-MAX_TAIL_UNITS);
      handlers.onRead();
      if (openUnits > MAX_EVENT_UNITS) overflow = `One event is longer than ${MAX_EVENT_UNITS}`;
      if (bytes > MAX_STREAM_BYTES) {
        overflow = `The answer is longer than ${MAX_STREAM_BYTES} bytes`;
      }
      if (overflow !== null) break;
    }
  } finally {
    // Not waited for: a connection that is already broken has nothing more to say.
    reader.cancel().catch(() => {});
  }
  return { tail: tail + decoder.decode(), errorLines, events, overflow };
}

function afterLastEvent(text: string): string {
  const normal = text.replace(/\r\n?/g, "\n");
  return normal.slice(normal.lastIndexOf("\n\n") + 2);
}
