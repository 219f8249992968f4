import { Sanitizer } from "../../core/text/sanitizer.ts";

/** Characters JSON leaves as they are although a terminal acts on them, or hides or turns text. */
const UNSAFE_IN_JSON_REGEXP =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text from outside, made safe for a terminal: its own lines and tabs stay, nothing else acts. */
export function safeText(text: string): string {
  const sanitizer = new Sanitizer();
  return sanitizer.push(text) + sanitizer.end();
}

/** A value as one line of JSON that is safe to show and parses back to exactly the same value. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE_IN_JSON_REGEXP,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
