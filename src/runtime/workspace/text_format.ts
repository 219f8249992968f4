import { err, ok, type Result } from "../../core/result.ts";

/** What must survive an edit besides the characters themselves. */
export interface TextFormat {
  readonly bom: boolean;
  /** `none` for text without a line ending. A lone CR is an ordinary character. */
  readonly endings: "lf" | "crlf" | "mixed" | "none";
  readonly finalNewline: boolean;
}

/** A file's text with its endings as they are and its byte order mark removed. */
export interface DecodedText {
  readonly text: string;
  readonly format: TextFormat;
}

const BOM = "\uFEFF";
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Decodes strictly: a lossy decode would rewrite every byte it does not know. A NUL makes a file
 * binary; any other byte that is not UTF-8 makes it `not_utf8` (Latin-1, Shift-JIS, UTF-16).
 */
export function decodeText(bytes: Uint8Array): Result<DecodedText, "binary" | "not_utf8"> {
  if (bytes.includes(0)) return err("binary");
  let text: string;
  try {
    text = strict.decode(bytes);
  } catch {
    return err("not_utf8");
  }
  const bom = text.startsWith(BOM);
  if (bom) text = text.slice(BOM.length);
  return ok({ text, format: { bom, endings: endingsOf(text), finalNewline: text.endsWith("\n") } });
}

/** The bytes of a text, with the byte order mark when the file has one. */
export function encodeText(text: string, bom: boolean): Uint8Array<ArrayBuffer> {
  return encoder.encode(bom ? BOM + text : text);
}

/** Which line endings a text uses. */
export function endingsOf(text: string): TextFormat["endings"] {
  const first = text.indexOf("\n");
  if (first < 0) return "none";
  const crlf = text.charAt(first - 1) === "\r";
  for (let at = first; at >= 0; at = text.indexOf("\n", at + 1)) {
    if ((text.charAt(at - 1) === "\r") !== crlf) return "mixed";
  }
  return crlf ? "crlf" : "lf";
}

/** Turns CRLF into LF, for showing and matching. */
export function toLf(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/**
 * Brings new content into the form of the file it replaces: a file that uses CRLF throughout stays
 * so, and keeps its byte order mark; the final newline is the content's own.
 */
export function adoptFormat(content: string, format: TextFormat): Uint8Array<ArrayBuffer> {
  const bare = content.startsWith(BOM) ? content.slice(BOM.length) : content;
  const lines = format.endings === "crlf" ? toLf(bare).replaceAll("\n", "\r\n") : bare;
  return encodeText(lines, format.bom);
}
