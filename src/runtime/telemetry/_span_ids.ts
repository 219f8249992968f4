import type { SpanContext } from "../../core/telemetry/telemetry.ts";
import { randomHex } from "../random_ids.ts";

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

/** A new span's identity: in its parent's trace, or in a new one. */
export function newSpanContext(parent: SpanContext | null): SpanContext {
  return {
    traceId: parent?.traceId ?? randomHex(TRACE_BYTES),
    spanId: randomHex(SPAN_BYTES),
  };
}
