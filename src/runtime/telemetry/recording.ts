import type { Clock } from "../../core/clock.ts";
import type {
  Attributes,
  AttributeValue,
  LogRecord,
  Span,
  SpanContext,
  SpanOptions,
  Telemetry,
} from "../../core/telemetry/telemetry.ts";
import { newSpanContext } from "./_span_ids.ts";

/** Records one signal keeps; what comes later is counted and left out. */
const MAX_RECORDS = 10_000;

export interface RecordedSpan {
  readonly name: string;
  readonly context: SpanContext;
  readonly parent: SpanContext | null;
  readonly kind: SpanOptions["kind"];
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly startMs: number;
  /** Null while the span is open. */
  readonly endMs: number | null;
  readonly errorType: string | null;
}

export interface RecordedMeasurement {
  readonly metric: string;
  readonly value: number;
  readonly attributes: Attributes;
}

/** Telemetry kept in memory, bounded, for whoever wants to look at it: tests and diagnostics. */
export class RecordingTelemetry implements Telemetry {
  readonly spans: RecordedSpan[] = [];
  readonly logs: LogRecord[] = [];
  readonly counts: RecordedMeasurement[] = [];
  readonly measurements: RecordedMeasurement[] = [];
  readonly #clock: Clock;
  #dropped = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that were left out because a list was full. */
  get dropped(): number {
    return this.#dropped;
  }

  span(name: string, options: SpanOptions): Span {
    const context = newSpanContext(options.parent);
    const index = this.spans.length;
    this.#keep(this.spans, {
      name,
      context,
      parent: options.parent,
      kind: options.kind,
      attributes: { ...options.attributes },
      startMs: this.#clock.monotonicMs(),
      endMs: null,
      errorType: null,
    });
    const change = (changes: (span: RecordedSpan) => Partial<RecordedSpan>): void => {
      const span = this.spans[index];
      if (span === undefined || span.context !== context || span.endMs !== null) return;
      this.spans[index] = { ...span, ...changes(span) };
    };
    return {
      context,
      set: (attributes) =>
        change((span) => ({ attributes: { ...span.attributes, ...attributes } })),
      end: (errorType) => change(() => ({ endMs: this.#clock.monotonicMs(), errorType })),
    };
  }

  log(record: LogRecord): void {
    this.#keep(this.logs, record);
  }

  count(metric: string, value: number, attributes: Attributes): void {
    this.#keep(this.counts, { metric, value, attributes });
  }

  record(metric: string, value: number, attributes: Attributes): void {
    this.#keep(this.measurements, { metric, value, attributes });
  }

  #keep<T>(list: T[], record: T): void {
    if (list.length >= MAX_RECORDS) this.#dropped++;
    else list.push(record);
  }
}
