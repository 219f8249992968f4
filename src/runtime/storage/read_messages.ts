import type { AssistantMessage, Message } from "../../core/conversation/message.ts";
import type { MessageId, SessionId } from "../../core/ids.ts";
import type { Page } from "../../core/port/read_models.ts";
import { type Listing, MAX_PAGE_BYTES, pageLimit, parseCursor } from "./read_page.ts";
import type { Row, Statements } from "./statements.ts";

/** Most messages one query looks at; further ones count as cut. */
export const MAX_MESSAGES = 5_000;

/** Messages of a session in order, from the newest back as far as `maxBytes` of content allow. */
export function readMessages(
  statements: Statements,
  { sessionId, maxBytes }: { readonly sessionId: SessionId; readonly maxBytes: number },
): { readonly messages: readonly Message[]; readonly cut: boolean } {
  // Sizes first: bodies that do not fit are never loaded.
  const sizes = statements.all(
    `SELECT started_sequence, content_bytes FROM messages WHERE session_id = ?
     ORDER BY started_sequence DESC LIMIT ?`,
    sessionId,
    MAX_MESSAGES + 1,
  );
  let first: number | null = null;
  let count = 0;
  let bytes = 0;
  for (const row of sizes.slice(0, MAX_MESSAGES)) {
    bytes += row.integer("content_bytes");
    if (bytes > maxBytes) break;
    first = row.integer("started_sequence");
    count++;
  }
  const cut = count < sizes.length;
  if (first === null) return { messages: [], cut };
  const rows = statements.all(
    `SELECT id, body FROM messages WHERE session_id = ? AND started_sequence >= ?
     ORDER BY started_sequence`,
    sessionId,
    first,
  );
  return { messages: rows.map((row) => message(statements, row)), cut };
}

/**
 * Messages of a session in order, a page at a time: at most `MAX_PAGE_BYTES` of content, and one
 * larger message still comes alone.
 */
export function readMessagePage(
  statements: Statements,
  { sessionId, cursor, limit }: Listing & { readonly sessionId: SessionId },
): Page<Message> {
  const after = parseCursor(statements, { cursor, first: 0 });
  const size = pageLimit(limit);
  const sizes = statements.all(
    `SELECT started_sequence, content_bytes FROM messages
     WHERE session_id = ? AND started_sequence > ? ORDER BY started_sequence LIMIT ?`,
    sessionId,
    after,
    size + 1,
  );
  let bytes = 0;
  const large = sizes.findIndex((row, index) => {
    bytes += row.integer("content_bytes");
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  const count = Math.min(size, large === -1 ? sizes.length : large);
  const last = sizes[count - 1]?.integer("started_sequence") ?? after;
  const rows = statements.all(
    `SELECT id, body FROM messages
     WHERE session_id = ? AND started_sequence > ? AND started_sequence <= ?
     ORDER BY started_sequence`,
    sessionId,
    after,
    last,
  );
  return {
    items: rows.map((row) => message(statements, row)),
    next: count < sizes.length ? String(last) : null,
  };
}

/** A message without a body is incomplete: what is committed of it is shown as just that. */
function message(statements: Statements, row: Row): Message {
  return row.jsonOrNull<Message>("body") ??
    incompleteAnswer(committedText(statements, row.id("id")));
}

/** An answer that ended without its end: the committed text and nothing invented. */
function incompleteAnswer(text: string): AssistantMessage {
  return { role: "assistant", text, reasoning: "", toolCalls: [], end: "incomplete" };
}

/** The text of an incomplete message as far as it is committed. */
export function committedText(statements: Statements, id: MessageId): string {
  const chunks = statements.all(
    "SELECT text FROM message_chunks WHERE message_id = ? ORDER BY offset_units",
    id,
  );
  return chunks.map((chunk) => chunk.json<string>("text")).join("");
}
