import { UNKNOWN_USAGE } from "../../src/core/usage.ts";
import { ok } from "../../src/core/result.ts";
import type { ChatAdapter, ChatAnswer, ChatRequest } from "../../src/runtime/providers/provider.ts";

/** One answer of a scripted model: a text, or calls. */
export interface ScriptedTurn {
  readonly text?: string;
  /** Pieces the text comes in, one a turn of the event loop. Default: one. */
  readonly pieces?: number;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** A model at the port that gives the scripted answers in order and keeps what it was asked. */
export class ScriptedAdapter implements ChatAdapter {
  readonly requests: ChatRequest[] = [];
  readonly #turns: readonly ScriptedTurn[];

  constructor(turns: readonly ScriptedTurn[]) {
    this.#turns = turns;
  }

  send: ChatAdapter["send"] = async (_endpoint, request, { onDelta }) => {
    const turn = this.#turns[this.requests.length];
    // The conversation goes on growing: what was asked is kept as it was.
    this.requests.push({ ...request, messages: [...request.messages] });
    if (turn === undefined) throw new Error("The script has no further answer");
    const calls = turn.calls ?? [];
    for (const text of inPieces(turn)) {
      onDelta({ type: "text", text });
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const answer: ChatAnswer = {
      text: turn.text ?? "",
      reasoning: "",
      toolCalls: calls.map((call, index) => ({
        id: `c${this.requests.length}_${index}`,
        name: call.name,
        argumentsText: JSON.stringify(call.arguments),
        invalid: null,
      })),
      end: calls.length > 0 ? "tool_calls" : "stop",
      rawFinish: null,
      usage: UNKNOWN_USAGE,
      responseId: null,
      responseModel: null,
      firstChunkMs: 0,
      notes: [],
    };
    return ok(answer);
  };
}

function inPieces({ text = "", pieces = 1 }: ScriptedTurn): readonly string[] {
  if (text === "") return [];
  const length = Math.ceil(text.length / pieces);
  return Array.from({ length: pieces }, (_, i) => text.slice(i * length, (i + 1) * length));
}
