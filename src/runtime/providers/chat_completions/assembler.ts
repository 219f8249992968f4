import type { ToolCall } from "../../../core/conversation/message.ts";
import { truncateMiddle } from "../../../core/text/truncate.ts";
import { isObject } from "../../../core/json.ts";

/** Calls in one answer; a server that sends more is broken or hostile. */
const MAX_CALLS = 64;

/** Arguments of one call, in UTF-16 units: a large file written in one go. */
const MAX_ARGUMENT_UNITS = 4 << 20;

/** What of unusable arguments goes back to the model, in bytes. */
const MAX_QUOTED_BYTES = 512;

/** Special tokens that some models leave behind their arguments. */
const TRAILING_TOKENS = ["<|im_end|>", "<|eot_id|>", "</s>", "<|end|>", "</tool_call>"] as const;

interface Slot {
  id: string;
  name: string;
  argumentsText: string;
  /** Arguments came as an object, whole: nothing may follow. */
  closed: boolean;
}

/** A stream that cannot be assembled: one sentence, for a protocol error. */
export class AssemblyError extends Error {
  override readonly name = "AssemblyError";
}

/**
 * Puts tool calls together from fragments, whatever they are cut into and however a server numbers
 * them. The rules are those of the wire contract: a known index or id finds its slot; a new id on a
 * used index, or arguments that begin again behind complete ones, opens another; ids and names are
 * never joined, only arguments are. Nothing is given out before the end.
 */
export class CallAssembler {
  readonly #declared: ReadonlySet<string>;
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();
  #last: Slot | null = null;

  constructor(declaredNames: Iterable<string>) {
    this.#declared = new Set(declaredNames);
  }

  get count(): number {
    return this.#slots.length;
  }

  /** Name and size of the call that was touched last, for progress. */
  get progress(): { readonly slot: number; readonly name: string; readonly units: number } | null {
    const last = this.#last;
    return last === null
      ? null
      : { slot: this.#slots.indexOf(last), name: last.name, units: last.argumentsText.length };
  }

  /**
   * Takes the `tool_calls` of one chunk.
   *
   * @throws {AssemblyError} When it is no list of calls, or a bound is exceeded.
   */
  push(calls: unknown): void {
    if (calls === null || calls === undefined) return;
    for (const fragment of Array.isArray(calls) ? calls : [calls]) {
      if (!isObject(fragment)) throw new AssemblyError("A tool call that is not an object");
      this.#fragment(fragment);
    }
  }

  /**
   * The complete calls. A call whose arguments are not a JSON object, or whose name is not
   * declared, is kept and marked, so that the model can be told.
   *
   * @param used Ids of the conversation so far: an id that is not new is renamed.
   */
  finish(used: ReadonlySet<string>): readonly ToolCall[] {
    const taken = new Set(used);
    return this.#slots.filter((slot) => slot.name !== "" || slot.argumentsText !== "")
      .map((slot, index) => {
        const id = freshId(slot.id, { taken, index });
        taken.add(id);
        return this.#call(slot, id);
      });
  }

  #fragment(fragment: Readonly<Record<string, unknown>>): void {
    const body = isObject(fragment["function"]) ? fragment["function"] : {};
    const index = typeof fragment["index"] === "number" && Number.isInteger(fragment["index"])
      ? fragment["index"]
      : null;
    const id = nonEmpty(fragment["id"]);
    const name = nonEmpty(body["name"]);
    const args = body["arguments"];
    const slot = this.#find({ index, id, name, args });
    if (slot.id === "" && id !== "") {
      slot.id = id;
      this.#byId.set(id, slot);
    }
    this.#name(slot, name);
    this.#arguments(slot, args);
    this.#last = slot;
  }

  #find(
    { index, id, name, args }: {
      readonly index: number | null;
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
    },
  ): Slot {
    const known = id === "" ? undefined : this.#byId.get(id);
    if (known !== undefined) return known;
    if (index !== null) {
      const slot = this.#byIndex.get(index);
      if (slot === undefined) {
        // A bare tail under a new number belongs to the call that is still open.
        const open = this.#last;
        const tail = id === "" && name === "" && open !== null && !isComplete(open.argumentsText);
        if (!tail) return this.#open(index);
        this.#byIndex.set(index, open);
        return open;
      }
      const other = id !== "" && slot.id !== "" && id !== slot.id;
      const again = isComplete(slot.argumentsText) &&
        (other || (name !== "" && startsObject(args)));
      return (other && name !== "") || again ? this.#open(index) : slot;
    }
    const last = this.#last;
    if (id !== "" || last === null) return this.#open(null);
    return name !== "" && isComplete(last.argumentsText) ? this.#open(null) : last;
  }

  #open(index: number | null): Slot {
    if (this.#slots.length >= MAX_CALLS) {
      throw new AssemblyError(`More than ${MAX_CALLS} tool calls in one answer`);
    }
    const slot: Slot = { id: "", name: "", argumentsText: "", closed: false };
    this.#slots.push(slot);
    if (index !== null) this.#byIndex.set(index, slot);
    return slot;
  }

  #name(slot: Slot, name: string): void {
    if (name === "" || name === slot.name) return;
    if (slot.name === "" || name.startsWith(slot.name)) {
      slot.name = name;
      return;
    }
    const joined = slot.name + name;
    const fits = slot.argumentsText === "" &&
      [...this.#declared].some((declared) => declared.startsWith(joined));
    if (!fits) throw new AssemblyError("A tool call that changes its name");
    slot.name = joined;
  }

  #arguments(slot: Slot, args: unknown): void {
    if (args === null || args === undefined) return;
    if (slot.closed) return;
    if (isObject(args)) {
      slot.argumentsText = JSON.stringify(args);
      slot.closed = true;
    } else if (typeof args === "string") {
      const repeated = isComplete(slot.argumentsText) &&
        (args === slot.argumentsText || args === JSON.stringify(slot.argumentsText));
      if (!repeated) slot.argumentsText += args;
    } else throw new AssemblyError("Tool call arguments that are neither text nor an object");
    if (slot.argumentsText.length > MAX_ARGUMENT_UNITS) {
      throw new AssemblyError(`Tool call arguments longer than ${MAX_ARGUMENT_UNITS} characters`);
    }
  }

  #call(slot: Slot, id: string): ToolCall {
    const { name } = slot;
    const args = readArguments(slot.argumentsText);
    const invalid = !this.#declared.has(name)
      ? `There is no tool "${name}": use ${[...this.#declared].join(", ")}`
      : args.problem;
    return { id, name: name === "" ? "unnamed" : name, argumentsText: args.text, invalid };
  }
}

/** Arguments as the text of a JSON object; what is none becomes an empty one with the reason. */
function readArguments(raw: string): { readonly text: string; readonly problem: string | null } {
  let text = raw.trim();
  if (text === "") return { text: "{}", problem: null };
  for (const token of TRAILING_TOKENS) {
    if (text.endsWith(token)) text = text.slice(0, -token.length).trimEnd();
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
    // Some servers put the object into a string once more.
    if (typeof value === "string") value = JSON.parse(value);
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return {
      text: "{}",
      problem: `The arguments are not valid JSON (${reason}). They were: ${
        truncateMiddle(raw, MAX_QUOTED_BYTES)
      }`,
    };
  }
  if (!isObject(value)) {
    return {
      text: "{}",
      problem: `The arguments are not a JSON object. They were: ${
        truncateMiddle(raw, MAX_QUOTED_BYTES)
      }`,
    };
  }
  return { text: JSON.stringify(value), problem: null };
}

function freshId(
  id: string,
  { taken, index }: { readonly taken: ReadonlySet<string>; readonly index: number },
): string {
  if (id !== "" && !taken.has(id)) return id;
  for (let number = taken.size + index;; number++) {
    const made = `call_${number}`;
    if (!taken.has(made)) return made;
  }
}

/** Whether arguments are a whole JSON object already. */
function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function startsObject(args: unknown): boolean {
  return isObject(args) || (typeof args === "string" && args.trimStart().startsWith("{"));
}

function nonEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
