import { describeScope } from "../../core/policy/scope_text.ts";
import type { RecordedEvent } from "../../core/events/recorded.ts";
import type { OperationScope } from "../../core/policy/scope.ts";
import type { Update } from "../../core/port/application.ts";
import { safeText } from "./safe_text.ts";
import type { Style } from "./style.ts";

/** Lines of a model's remark between tool calls that are shown. */
const MAX_REMARK_LINES = 6;

/** Turns updates into lines for standard error: one when an operation begins, one when it ends. */
export class Progress {
  readonly #style: Style;
  readonly #scopes = new Map<string, OperationScope>();

  constructor(style: Style) {
    this.#style = style;
  }

  /** The lines for one update; empty for what a person need not see. */
  lines(update: Update): string {
    switch (update.type) {
      case "event":
        return this.#event(update.envelope.event);
      case "message":
        return update.message.role === "assistant" && update.message.toolCalls.length > 0
          ? this.#remark(update.message.text)
          : "";
      case "status":
        return `${this.#style("quiet", safeText(update.text).trimEnd())}\n`;
      case "lagged":
        return `${this.#style("quiet", "(some progress is not shown)")}\n`;
      case "text":
      case "output":
        return "";
    }
  }

  #event(event: RecordedEvent): string {
    switch (event.type) {
      case "operation_requested":
        this.#scopes.set(event.operationId, event.scope);
        return "";
      case "operation_dispatched": {
        const scope = this.#scopes.get(event.operationId);
        return scope?.type === "command" ? this.#line("quiet", "…", describeScope(scope)) : "";
      }
      case "operation_finished": {
        const scope = this.#scopes.get(event.operationId);
        this.#scopes.delete(event.operationId);
        const what = scope === undefined ? "" : describeScope(scope);
        const mark = event.outcome === "ok" ? "✓" : event.outcome === "error" ? "✗" : "!";
        const meaning = event.outcome === "ok" ? "good" : "bad";
        return this.#line(meaning, mark, describeOutcome(scope, { what, summary: event.summary }));
      }
      case "operation_denied": {
        const scope = this.#scopes.get(event.operationId);
        const what = scope === undefined ? "" : describeScope(scope);
        return this.#line("bad", "✗", `${what}: denied, ${event.reason}`);
      }
      // A signal is answered by whoever caught it.
      case "cancel_requested":
        return event.by === "user" ? this.#line("bad", "!", "stopping: the task is cancelled") : "";
      case "force_stop_requested":
        return event.by === "user" ? this.#line("bad", "!", "killing what still runs") : "";
      case "verification_ended":
        return event.passed
          ? this.#line("good", "✓", "verification passed")
          : this.#line("bad", "✗", "verification failed");
      default:
        return "";
    }
  }

  #remark(text: string): string {
    const lines = safeText(text).trim().split("\n").filter((line) => line !== "");
    const shown = lines.slice(0, MAX_REMARK_LINES);
    if (lines.length > shown.length) shown.push("…");
    return shown.map((line) => `${line}\n`).join("");
  }

  #line(meaning: "good" | "bad" | "quiet", mark: string, text: string): string {
    return `${this.#style(meaning, mark)} ${safeText(text)}\n`;
  }
}

function describeOutcome(
  scope: OperationScope | undefined,
  { what, summary }: { readonly what: string; readonly summary: string },
): string {
  switch (scope?.type) {
    case "command":
      return `${what}: ${summary}`;
    case "inspect":
      return summary === "" ? what : `${scope.tool} ${summary}`;
    case "git_inspect":
    case "file":
    case undefined:
      return summary === "" ? what : summary;
  }
}
