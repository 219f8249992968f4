/** Share of a cut text that its head gets: beginnings say what it is, ends say how it went. */
const HEAD_SHARE = 0.6;

/** Bytes kept free for the mark between head and tail. */
const MARK_BYTES = 64;

/** Length of `text` in UTF-8, in bytes. A lone surrogate counts as the three bytes that replace it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHigh(unit) && isLow(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/**
 * Cuts a text to at most `maxBytes` bytes of UTF-8, keeping its head and its tail, with a mark that
 * says how much is left out. Whole lines are kept where there are any; a character is never cut.
 */
export function truncateMiddle(text: string, maxBytes: number): string {
  const total = utf8Length(text);
  if (total <= maxBytes) return text;
  const room = Math.max(0, maxBytes - MARK_BYTES);
  const head = wholeLinesHead(headOf(text, Math.floor(room * HEAD_SHARE)));
  const tail = wholeLinesTail(tailOf(text, room - utf8Length(head)));
  const left = total - utf8Length(head) - utf8Length(tail);
  const mark = `[... ${left} bytes left out ...]`;
  const before = head === "" || head.endsWith("\n") ? head : `${head}\n`;
  return headOf(`${before}${mark}\n${tail}`, maxBytes);
}

/** The longest beginning of `text` that takes at most `maxBytes` bytes. */
export function headOf(text: string, maxBytes: number): string {
  let bytes = 0;
  for (let i = 0; i < text.length;) {
    const { units, size } = characterAt(text, i);
    bytes += size;
    if (bytes > maxBytes) return text.slice(0, i);
    i += units;
  }
  return text;
}

/** The longest end of `text` that takes at most `maxBytes` bytes. */
export function tailOf(text: string, maxBytes: number): string {
  let bytes = 0;
  for (let end = text.length; end > 0;) {
    const pair = isLow(text.charCodeAt(end - 1)) && isHigh(text.charCodeAt(end - 2));
    const start = end - (pair ? 2 : 1);
    bytes += characterAt(text, start).size;
    if (bytes > maxBytes) return text.slice(end);
    end = start;
  }
  return text;
}

function wholeLinesHead(head: string): string {
  const end = head.lastIndexOf("\n");
  // A line that fills more than half of the room is better cut than lost.
  return end + 1 > head.length / 2 ? head.slice(0, end + 1) : head;
}

function wholeLinesTail(tail: string): string {
  const start = tail.indexOf("\n") + 1;
  return start > 0 && start < tail.length / 2 ? tail.slice(start) : tail;
}

function characterAt(
  text: string,
  index: number,
): { readonly units: number; readonly size: number } {
  const unit = text.charCodeAt(index);
  if (unit < 0x80) return { units: 1, size: 1 };
  if (unit < 0x800) return { units: 1, size: 2 };
  return isHigh(unit) && isLow(text.charCodeAt(index + 1))
    ? { units: 2, size: 4 }
    : { units: 1, size: 3 };
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
