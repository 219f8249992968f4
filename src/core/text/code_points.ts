/**
 * Code points that act on a terminal or deceive a reader instead of showing something. What is not
 * here is shown as it is: joiners and variation selectors stay, since scripts and emoji need them.
 */

/** Direction marks, embeddings, overrides and isolates: they show text in another order. */
export function isBidiControl(codePoint: number): boolean {
  return codePoint === 0x061c || codePoint === 0x200e || codePoint === 0x200f ||
    (codePoint >= 0x202a && codePoint <= 0x202e) || (codePoint >= 0x2066 && codePoint <= 0x2069);
}

/** C0 and C1 controls and DEL, line feed and tab included. */
export function isControl(codePoint: number): boolean {
  return codePoint < 0x20 || (codePoint >= 0x7f && codePoint <= 0x9f);
}

/**
 * Characters without a shape that no text needs: invisible operators, fillers, tags, annotation
 * marks, a byte order mark inside a text, and separators that some programs take for a new line.
 */
export function isInvisible(codePoint: number): boolean {
  return codePoint === 0x00ad || codePoint === 0x034f || codePoint === 0x115f ||
    codePoint === 0x1160 || codePoint === 0x180e || codePoint === 0x200b ||
    codePoint === 0x2028 || codePoint === 0x2029 ||
    (codePoint >= 0x2060 && codePoint <= 0x2065) || (codePoint >= 0x206a && codePoint <= 0x206f) ||
    codePoint === 0x3164 || codePoint === 0xfeff || codePoint === 0xffa0 ||
    (codePoint >= 0xfff9 && codePoint <= 0xfffb) || (codePoint >= 0xe0000 && codePoint <= 0xe007f);
}

/** Half of a surrogate pair that stands alone. */
export function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff;
}

/** Joiners and variation selectors: kept in running text, shown in an exact scope. */
export function isJoiner(codePoint: number): boolean {
  return codePoint === 0x200c || codePoint === 0x200d ||
    (codePoint >= 0xfe00 && codePoint <= 0xfe0f) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef);
}
