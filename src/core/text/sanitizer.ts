import { isBidiControl, isControl, isInvisible, isSurrogate } from "./code_points.ts";

/**
 * Turns untrusted text into text that a terminal can only show. Line feed and tab stay; every
 * escape sequence and every other control, direction, invisible or broken character is removed, at
 * whatever place the text is cut into pieces: pushing it whole or one unit at a time gives the same.
 *
 * - ESC and C1 introducers: CSI ends at its final byte; OSC, DCS, SOS, PM and APC end at ST, BEL,
 *   CAN or SUB. One that does not end within `MAX_SEQUENCE_UNITS` is given up and marked, so that
 *   it cannot swallow the text after it.
 * - CRLF becomes LF. A lone CR goes back to the start of the line: what is already shown of the
 *   line cannot be taken back here, so the rest begins a new line, and a run of CRs begins one.
 */
export class Sanitizer {
  #state: State = { type: "text" };
  /** A high surrogate that waits for its other half. */
  #high = "";

  /** Takes the next piece and returns what can be shown of it by now. */
  push(text: string): string {
    let shown = "";
    // A whole-piece scan: most text has nothing to remove and is passed on as it is.
    if (this.#state.type === "text" && this.#high === "" && !SUSPICIOUS_REGEXP.test(text)) {
      return text;
    }
    for (const character of this.#high + text) {
      this.#high = "";
      const codePoint = character.codePointAt(0) ?? 0;
      if (codePoint >= 0xd800 && codePoint <= 0xdbff) {
        // Only the last character of a piece can still become a pair.
        this.#high = character;
        continue;
      }
      shown += this.#step(character, codePoint);
    }
    return shown;
  }

  /** Ends the text. What is unfinished is dropped; the sanitizer can be used again. */
  end(): string {
    const unfinished = this.#state;
    this.#state = { type: "text" };
    this.#high = "";
    return unfinished.type === "return" ? "\n" : unfinished.type === "string" ? DROPPED_MARK : "";
  }

  #step(character: string, codePoint: number): string {
    const state = this.#state;
    switch (state.type) {
      case "text":
        return this.#text(character, codePoint);
      case "return":
        if (character === "\r") return "";
        this.#state = { type: "text" };
        return character === "\n" ? "\n" : `\n${this.#text(character, codePoint)}`;
      case "escape":
        return this.#escape(character, codePoint);
      case "escape_intermediate":
        if (codePoint >= 0x20 && codePoint <= 0x2f) return this.#count(state);
        this.#state = { type: "text" };
        return codePoint >= 0x30 && codePoint <= 0x7e ? "" : this.#text(character, codePoint);
      case "control_sequence":
        return this.#controlSequence(state, { character, codePoint });
      case "string":
        return this.#string(state, { character, codePoint });
      case "string_escape":
        this.#state = { type: "text" };
        return character === "\\" ? "" : this.#escape(character, codePoint);
    }
  }

  #text(character: string, codePoint: number): string {
    if (character === "\n" || character === "\t") return character;
    if (character === "\r") {
      this.#state = { type: "return" };
      return "";
    }
    if (codePoint === 0x1b) {
      this.#state = { type: "escape" };
      return "";
    }
    if (codePoint === 0x9b) {
      this.#state = { type: "control_sequence", units: 0 };
      return "";
    }
    if (STRING_INTRODUCERS_C1.has(codePoint)) {
      this.#state = { type: "string", units: 0 };
      return "";
    }
    const acts = isControl(codePoint) || isBidiControl(codePoint) || isInvisible(codePoint) ||
      isSurrogate(codePoint);
    return acts ? "" : character;
  }

  #escape(character: string, codePoint: number): string {
    if (character === "[") this.#state = { type: "control_sequence", units: 0 };
    else if (STRING_INTRODUCERS.has(character)) this.#state = { type: "string", units: 0 };
    else if (codePoint === 0x1b) this.#state = { type: "escape" };
    else if (codePoint >= 0x20 && codePoint <= 0x2f) {
      this.#state = { type: "escape_intermediate", units: 0 };
    } else {
      this.#state = { type: "text" };
      // A two-character sequence ends here; anything else was no sequence and is judged by itself.
      return codePoint >= 0x30 && codePoint <= 0x7e ? "" : this.#text(character, codePoint);
    }
    return "";
  }

  #controlSequence(
    state: Extract<State, { type: "control_sequence" }>,
    { character, codePoint }: { readonly character: string; readonly codePoint: number },
  ): string {
    if (codePoint >= 0x20 && codePoint <= 0x3f) return this.#count(state);
    this.#state = { type: "text" };
    return codePoint >= 0x40 && codePoint <= 0x7e ? "" : this.#text(character, codePoint);
  }

  #string(
    state: Extract<State, { type: "string" }>,
    { character, codePoint }: { readonly character: string; readonly codePoint: number },
  ): string {
    if (codePoint === 0x07 || codePoint === 0x18 || codePoint === 0x1a || codePoint === 0x9c) {
      this.#state = { type: "text" };
      return "";
    }
    if (codePoint === 0x1b) {
      this.#state = { type: "string_escape" };
      return "";
    }
    if (character === "\n") {
      // No real title or link holds a line end: this is ordinary text behind a stray introducer.
      this.#state = { type: "text" };
      return `${DROPPED_MARK}\n`;
    }
    return this.#count(state);
  }

  #count(state: Counted): string {
    if (state.units < MAX_SEQUENCE_UNITS) {
      this.#state = { ...state, units: state.units + 1 };
      return "";
    }
    this.#state = { type: "text" };
    return DROPPED_MARK;
  }
}

type State =
  | { readonly type: "text" }
  | { readonly type: "return" }
  | { readonly type: "escape" }
  | { readonly type: "escape_intermediate"; readonly units: number }
  | { readonly type: "control_sequence"; readonly units: number }
  | { readonly type: "string"; readonly units: number }
  | { readonly type: "string_escape" };
type Counted = Extract<State, { readonly units: number }>;

/** Longest sequence that is removed whole, in characters: a long hyperlink; nothing honest is longer. */
const MAX_SEQUENCE_UNITS = 4096;

/** Stands where an unfinished sequence was removed. */
const DROPPED_MARK = "[...]";

/** After ESC: DCS, SOS, OSC, PM, APC. */
const STRING_INTRODUCERS: ReadonlySet<string> = new Set(["P", "X", "]", "^", "_"]);
const STRING_INTRODUCERS_C1: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);

/** Anything that `#text` would not pass on as it is; a superset, checked one by one afterwards. */
const SUSPICIOUS_REGEXP =
  // deno-lint-ignore no-control-regex -- naming control characters is the purpose
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff]/;
