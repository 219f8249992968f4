const OPEN = "<think>";
const CLOSE = "</think>";

/** Text and reasoning of one piece of content. */
export interface Split {
  readonly text: string;
  readonly reasoning: string;
}

/**
 * Parts inline reasoning from the answer, for servers that have no reasoning parser: a
 * `<think>...</think>` at the very beginning of the content. Anywhere else the tags are text, since
 * a model may write about them.
 */
export class ThinkSplitter {
  #state: "start" | "reasoning" | "after" | "text" = "start";
  /** Characters that could be the beginning of a tag. */
  #held = "";

  push(content: string): Split {
    if (this.#state === "text") return { text: content, reasoning: "" };
    const waiting = this.#held + content;
    this.#held = "";
    switch (this.#state) {
      case "start": {
        const begun = waiting.trimStart();
        if (begun.startsWith(OPEN)) {
          this.#state = "reasoning";
          return this.push(begun.slice(OPEN.length));
        }
        if (OPEN.startsWith(begun)) {
          this.#held = waiting;
          return { text: "", reasoning: "" };
        }
        this.#state = "text";
        return { text: waiting, reasoning: "" };
      }
      case "reasoning": {
        const end = waiting.indexOf(CLOSE);
        if (end !== -1) {
          this.#state = "after";
          const rest = this.push(waiting.slice(end + CLOSE.length));
          return { text: rest.text, reasoning: waiting.slice(0, end) + rest.reasoning };
        }
        const keep = overlap(waiting, CLOSE);
        this.#held = waiting.slice(waiting.length - keep);
        return { text: "", reasoning: waiting.slice(0, waiting.length - keep) };
      }
      case "after": {
        // The blank lines between the tag and the answer belong to neither.
        const text = waiting.trimStart();
        if (text !== "") this.#state = "text";
        return { text, reasoning: "" };
      }
    }
  }

  end(): Split {
    const rest = this.#held;
    this.#held = "";
    return this.#state === "reasoning"
      ? { text: "", reasoning: rest }
      : { text: rest, reasoning: "" };
  }
}

/** Length of the longest end of `text` that begins `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
