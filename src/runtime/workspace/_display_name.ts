const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** A name as text. `utf8` is false when it is not UTF-8: then it can be shown, but not asked for. */
export interface DisplayName {
  readonly text: string;
  readonly utf8: boolean;
}

/** Shows the bytes of a path; those that are not UTF-8 become `\xNN`, a backslash then `\\`. */
export function displayName(bytes: Uint8Array): DisplayName {
  try {
    return { text: strict.decode(bytes), utf8: true };
  } catch {
    return { text: escapeBytes(bytes), utf8: false };
  }
}

/** A sequence of UTF-8 takes at most four bytes. */
const MAX_SEQUENCE_BYTES = 4;

function escapeBytes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const size = sequenceAt(bytes, at);
    if (size === 0) {
      text += `\\x${(bytes[at] ?? 0).toString(16).padStart(2, "0")}`;
      at++;
    } else {
      const character = lossy.decode(bytes.subarray(at, at + size));
      text += character === "\\" ? "\\\\" : character;
      at += size;
    }
  }
  return text;
}

/** Bytes of the valid character at a place; 0 when there is none. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  for (let size = 1; size <= MAX_SEQUENCE_BYTES && at + size <= bytes.length; size++) {
    const part = bytes.subarray(at, at + size);
    const text = lossy.decode(part);
    if (text.length <= 2 && !text.includes("\uFFFD") && encoder.encode(text).length === size) {
      return size;
    }
  }
  return 0;
}
