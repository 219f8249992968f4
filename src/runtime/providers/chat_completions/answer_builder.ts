import { normalizeUsage, UNKNOWN_USAGE, type Usage } from "../../../core/usage.ts";
import type { ChatAnswer, StreamDelta } from "../provider.ts";
import { AssemblyError, CallAssembler } from "./assembler.ts";
import { type ErrorReply, isErrorValue, readErrorReply } from "./error_reply.ts";
import { ThinkSplitter } from "./think_splitter.ts";
import { judgeEnd, type TransportEnd } from "./verdict.ts";
import { isObject } from "../../../core/json.ts";

/** Text or reasoning of one answer, in UTF-16 units; a server that sends more is broken. */
const MAX_TEXT_UNITS = 8 << 20;

/** Deviations that are noted for one answer. */
const MAX_NOTES = 16;

/** Where reasoning stands in a delta or message, by server. The first that holds text counts. */
const REASONING_KEYS = ["reasoning_content", "reasoning", "thinking"] as const;

type Json = Readonly<Record<string, unknown>>;

/** What arrived with one network read, joined: a consumer is called once for each kind. */
export interface Arrived {
  readonly text: string;
  readonly reasoning: string;
  readonly status: string;
  readonly call: Extract<StreamDelta, { type: "tool_call" }> | null;
}

/** What the end of a stream came to. */
export type Built =
  | { readonly type: "answer"; readonly answer: ChatAnswer }
  | { readonly type: "error"; readonly error: ErrorReply; readonly answer: ChatAnswer };

/**
 * Builds an answer from the chunks of a stream, or from a whole reply. It is tolerant where servers
 * differ and strict about what is whole: an error wins over everything, and an answer that did not
 * end properly keeps its text and loses its calls.
 */
export class AnswerBuilder {
  readonly #calls: CallAssembler;
  readonly #maxOutputTokens: number;
  readonly #think = new ThinkSplitter();
  readonly #notes: string[] = [];
  #text = "";
  #reasoning = "";
  #newText = "";
  #newReasoning = "";
  #newStatus = "";
  #callTouched = false;
  #usage: Usage = UNKNOWN_USAGE;
  #finish: string | null = null;
  #finishError = false;
  #done = false;
  #refused = false;
  #responseId: string | null = null;
  #responseModel: string | null = null;
  #error: ErrorReply | null = null;
  #realChunks = 0;

  constructor(options: { readonly toolNames: Iterable<string>; readonly maxOutputTokens: number }) {
    this.#calls = new CallAssembler(options.toolNames);
    this.#maxOutputTokens = options.maxOutputTokens;
  }

  /** Whether nothing more is wanted: the end marker or an error has come. */
  get finished(): boolean {
    return this.#done || this.#error !== null;
  }

  /** Whether any of the answer has come. */
  get anyOutput(): boolean {
    return this.#text !== "" || this.#reasoning !== "" || this.#calls.count > 0;
  }

  /** Takes one event of the stream. */
  event(data: string, name: string | undefined): void {
    if (this.finished) return;
    const trimmed = data.trim();
    if (trimmed === "") return;
    if (trimmed === "[DONE]") {
      this.#done = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      this.#fail(
        name === "error"
          ? readErrorReply(200, data)
          : { reason: "protocol_error", detail: `An event is not JSON: ${data}` },
      );
      return;
    }
    if (name === "error") this.#fail(readErrorReply(200, value));
    else this.value(value);
  }

  /** Takes the parsed value of an event. */
  value(value: unknown): void {
    if (isErrorValue(value) && !hasUsableChoice(value)) {
      this.#fail(readErrorReply(200, value));
      return;
    }
    if (!isObject(value)) {
      this.#note("an event that is no object was ignored");
      return;
    }
    this.#facts(value);
    const choice = firstChoice(value);
    if (choice === null) return;
    this.#usage = normalizeUsage(choice["usage"]) ?? this.#usage;
    const delta = isObject(choice["delta"]) ? choice["delta"] : choice["message"];
    if (isObject(delta)) this.#delta(delta, isLoaderFrame(value));
    this.#finishReason(choice["finish_reason"]);
    if (isErrorValue(value)) this.#fail(readErrorReply(200, value));
  }

  /** Takes what arrived since the last call. */
  take(): Arrived {
    const progress = this.#callTouched ? this.#calls.progress : null;
    const arrived: Arrived = {
      text: this.#newText,
      reasoning: this.#newReasoning,
      status: this.#newStatus,
      call: progress === null ? null : {
        type: "tool_call",
        slot: progress.slot,
        name: progress.name,
        bytes: progress.units,
      },
    };
    this.#newText = this.#newReasoning = this.#newStatus = "";
    this.#callTouched = false;
    return arrived;
  }

  /** An error that came outside of the events, for example raw JSON behind them. */
  outOfBand(error: ErrorReply): void {
    this.#fail(error);
  }

  /** Ends the answer. */
  finish(
    transport: TransportEnd,
    options: { readonly usedCallIds: ReadonlySet<string>; readonly firstChunkMs: number | null },
  ): Built {
    this.#add(this.#think.end());
    const atOutputLimit = this.#usage.outputTokens !== null &&
      this.#usage.outputTokens >= this.#maxOutputTokens;
    if (this.#finish === null && this.#done) this.#note("the stream ended without a finish reason");
    if (this.#finish !== null && !this.#done) this.#note("the stream ended without its end marker");
    const verdict = judgeEnd({
      finish: this.#finishError ? "error" : this.#finish,
      done: this.#done,
      transport,
      calls: this.#refused ? 0 : this.#calls.count,
      anyOutput: this.#text !== "" || this.#reasoning !== "",
      atOutputLimit,
    });
    const end = this.#error !== null ? "error" : verdict === "empty" ? "incomplete" : verdict;
    const answer: ChatAnswer = {
      text: this.#text,
      reasoning: this.#reasoning,
      toolCalls: end === "tool_calls" ? this.#calls.finish(options.usedCallIds) : [],
      end,
      rawFinish: this.#finish,
      usage: this.#usage,
      responseId: this.#responseId,
      responseModel: this.#responseModel,
      firstChunkMs: options.firstChunkMs,
      notes: this.#notes,
    };
    if (this.#error !== null) return { type: "error", error: this.#error, answer };
    const error = errorForEnd(verdict);
    return error === null ? { type: "answer", answer } : { type: "error", error, answer };
  }

  #facts(value: Json): void {
    if (!isLoaderFrame(value)) this.#realChunks++;
    if (typeof value["id"] === "string" && value["id"] !== "") this.#responseId ??= value["id"];
    if (typeof value["model"] === "string" && value["model"] !== "") {
      this.#responseModel ??= value["model"];
    }
    // Cumulative: the last report counts, and reports are never added up.
    this.#usage = normalizeUsage(value["usage"]) ?? this.#usage;
  }

  #delta(delta: Json, loader: boolean): void {
    const reasoning = reasoningOf(delta);
    const onlyReasoning = reasoning !== "" && delta["content"] === undefined &&
      delta["tool_calls"] === undefined;
    if (loader && onlyReasoning && this.#realChunks === 0) {
      this.#newStatus += reasoning;
      return;
    }
    const content = contentOf(delta["content"]);
    if (reasoning !== "") this.#add({ text: "", reasoning });
    if (content.reasoning !== "") this.#add({ text: "", reasoning: content.reasoning });
    if (content.text !== "") this.#add(this.#think.push(content.text));
    if (typeof delta["refusal"] === "string" && delta["refusal"] !== "") {
      this.#refused = true;
      this.#add({ text: delta["refusal"], reasoning: "" });
    }
    const calls = delta["tool_calls"] ?? legacyCall(delta["function_call"]);
    if (calls === undefined || calls === null) return;
    try {
      this.#calls.push(calls);
      this.#callTouched = true;
    } catch (failure) {
      if (!(failure instanceof AssemblyError)) throw failure;
      this.#fail({ reason: "protocol_error", detail: failure.message });
    }
  }

  #add({ text, reasoning }: { readonly text: string; readonly reasoning: string }): void {
    this.#text += text;
    this.#newText += text;
    this.#reasoning += reasoning;
    this.#newReasoning += reasoning;
    if (this.#text.length > MAX_TEXT_UNITS || this.#reasoning.length > MAX_TEXT_UNITS) {
      this.#fail({
        reason: "protocol_error",
        detail: `The answer is longer than ${MAX_TEXT_UNITS} characters`,
      });
    }
  }

  #finishReason(reason: unknown): void {
    if (typeof reason !== "string") return;
    if (reason === "error") this.#finishError = true;
    this.#finish ??= reason;
  }

  #fail(error: ErrorReply): void {
    this.#error ??= error;
  }

  #note(note: string): void {
    if (this.#notes.length < MAX_NOTES && !this.#notes.includes(note)) this.#notes.push(note);
  }
}

function errorForEnd(verdict: ReturnType<typeof judgeEnd>): ErrorReply | null {
  switch (verdict) {
    case "stop":
    case "tool_calls":
    case "length":
      return null;
    case "content_filter":
      return { reason: "content_filtered", detail: "" };
    case "error":
      return { reason: "stream_error", detail: "" };
    case "incomplete":
    case "cancelled":
      return { reason: "incomplete_stream", detail: "" };
    case "empty":
      return { reason: "incomplete_stream", detail: "the answer is empty" };
  }
}

function firstChoice(value: Json): Json | null {
  const choices = value["choices"];
  const choice: unknown = Array.isArray(choices) ? choices[0] : null;
  return isObject(choice) ? choice : null;
}

function hasUsableChoice(value: unknown): boolean {
  if (!isObject(value)) return false;
  const choice = firstChoice(value);
  return choice !== null && (isObject(choice["delta"]) || isObject(choice["message"])) &&
    choice["finish_reason"] !== "error";
}

/** A frame of a proxy that is loading the model: no id, no object, no model. */
function isLoaderFrame(value: Json): boolean {
  return value["id"] === undefined && value["object"] === undefined && value["model"] === undefined;
}

function reasoningOf(delta: Json): string {
  for (const key of REASONING_KEYS) {
    const text = delta[key];
    if (typeof text === "string" && text !== "") return text;
  }
  return "";
}

/** Content as text, or as a list of parts. */
function contentOf(content: unknown): { readonly text: string; readonly reasoning: string } {
  if (typeof content === "string") return { text: content, reasoning: "" };
  let text = "";
  let reasoning = "";
  for (const part of Array.isArray(content) ? content : []) {
    if (!isObject(part)) continue;
    if (typeof part["text"] === "string") text += part["text"];
    if (part["type"] === "thinking") reasoning += contentOf(part["thinking"]).text;
  }
  return { text, reasoning };
}

function legacyCall(call: unknown): unknown {
  return isObject(call) ? [{ index: 0, function: call }] : undefined;
}
