import type { Message } from "../../core/conversation/message.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { SessionId } from "../../core/ids.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { unansweredCalls } from "../context/conversation.ts";
import { type OpenCall, pairWithOperations } from "../execution/open_calls.ts";
import type { JournalReader } from "../storage/journal.ts";

/** Bytes of earlier conversation that go on with a session; older messages are left out. */
const MAX_HISTORY_BYTES = 1 << 20;

/** A session as it can be gone on with: its messages, and the calls that have no result. */
export async function readSession(
  reader: JournalReader,
  sessionId: SessionId,
): Promise<
  Result<
    { readonly history: readonly Message[]; readonly openCalls: readonly OpenCall[] },
    FluzoError
  >
> {
  const read = await reader.messages(sessionId, MAX_HISTORY_BYTES);
  if (!read.ok) return read;
  const history = read.value.messages;
  if (history.length === 0) return err({ type: "not_found", what: "session", id: sessionId });
  const calls = unansweredCalls(history);
  if (calls.length === 0) return ok({ history, openCalls: [] });
  const operations = await reader.callOperations(sessionId, calls.map(({ id }) => id));
  return operations.ok
    ? ok({ history, openCalls: pairWithOperations(calls, operations.value) })
    : operations;
}
