import type { Message } from "../../core/conversation/message.ts";
import { parseId } from "../../core/ids.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext } from "../composition.ts";
import { safeText } from "../output/safe_text.ts";
import type { Style } from "../output/style.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { openInspection } from "./_inspection.ts";

/** Newest part of a conversation that is shown, in bytes. */
const MAX_BYTES = 1 << 20;

/** Lines of one tool result that are shown as text; JSON has all of it. */
const MAX_RESULT_LINES = 12;

/** `fluzo session open ID`: shows a conversation and does nothing else. */
export async function run({ positionals, flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const name = positionals[0] ?? "";
  const sessionId = parseId("session", name);
  if (sessionId === null) {
    return await failWith(context, { type: "not_found", what: "session", id: name });
  }
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const session = await journal.query({ type: "read_session", sessionId, maxBytes: MAX_BYTES });
  if (!session.ok) return await failWith(context, session.error);
  const { messages, cut } = session.value;
  return await succeedWith(context, {
    text: (cut ? "(older messages are left out)\n\n" : "") +
      messages.map((message) => describe(message, context.style)).join("\n"),
    json: { type: "session", session_id: sessionId, messages, cut },
  });
}

function describe(message: Message, style: Style): string {
  switch (message.role) {
    case "system":
    case "user":
      return `${style("strong", message.role === "user" ? "You" : "System")}\n${
        safeText(message.text).trim()
      }\n`;
    case "assistant": {
      const end = message.end === "stop" || message.end === "tool_calls"
        ? ""
        : ` (${message.end}: not the whole answer)`;
      const calls = message.toolCalls.map(({ name, argumentsText }) =>
        `  ${name} ${safeText(argumentsText)}\n`
      );
      const text = message.text.trim() === "" ? "" : `${safeText(message.text).trim()}\n`;
      return `${style("strong", "Fluzo")}${end}\n${text}${calls.join("")}`;
    }
    case "tool": {
      const lines = safeText(message.text).trim().split("\n");
      const shown = lines.slice(0, MAX_RESULT_LINES).map((line) => `  ${line}\n`);
      const left = lines.length - shown.length;
      if (left > 0) shown.push(`  (${left} more lines)\n`);
      const mark = message.outcome === "ok" ? "" : ` (${message.outcome})`;
      return `${style("quiet", `${message.name}${mark}`)}\n${shown.join("")}`;
    }
  }
}
