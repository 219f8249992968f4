import type { DomainEvent } from "../../core/events/event.ts";
import { type EndedOperation, redactLeft, sameLeft } from "../../core/left_processes.ts";

/** What ending operations changed of what is known to be left of them. */
export function leftEvents(
  ended: readonly EndedOperation[],
  redact: (text: string) => string,
): readonly DomainEvent[] {
  return ended.filter(({ before, left }) => !sameLeft(before, left)).map((
    { operationId, left },
  ) => ({ type: "processes_left", operationId, left: redactLeft(left, redact) }));
}
