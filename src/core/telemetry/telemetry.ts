/**
 * Traces, logs and metrics as a port. The runtime calls it at every operation boundary with an
 * explicit parent; no implementation may throw, block or keep the caller waiting. Attributes are
 * metadata from the list in `names.ts`: never prompts, code, arguments, output or paths.
 */

export interface SpanContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits. */
  readonly spanId: string;
}

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanOptions {
  readonly kind: "internal" | "client";
  /** Null starts a new trace. */
  readonly parent: SpanContext | null;
  readonly attributes: Attributes;
  /** The trace of the attempt that this one resumes. */
  readonly links?: readonly SpanContext[];
}

export interface Span {
  readonly context: SpanContext;
  /** Adds or replaces attributes. After `end` it does nothing. */
  set(attributes: Attributes): void;
  /** Ends the span once. `errorType` is a low-cardinality word, or null for success. */
  end(errorType: string | null): void;
}

export interface LogRecord {
  readonly severity: "debug" | "info" | "warn" | "error";
  /** A fixed event name from `names.ts`. */
  readonly name: string;
  readonly attributes: Attributes;
  readonly context: SpanContext | null;
}

export interface Telemetry {
  span(name: string, options: SpanOptions): Span;
  log(record: LogRecord): void;
  /** Adds to a counter. */
  count(metric: string, value: number, attributes: Attributes): void;
  /** Records one measurement of a histogram. */
  record(metric: string, value: number, attributes: Attributes): void;
}
