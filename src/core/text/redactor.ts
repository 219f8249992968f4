/** What stands in a text where a secret was. */
export const REDACTED = "[redacted]";

/**
 * Secrets shorter than this are not looked for: they would match ordinary words, and a text full of
 * marks tells an attacker where they are. Credentials this short are refused where they are read.
 */
export const MIN_SECRET_LENGTH = 6;

/** Removes known secrets by value, from whole texts and from streams. */
export interface Redactor {
  /** Replaces every occurrence of every secret. */
  redact(text: string): string;
  /** Whether `text` holds a secret. */
  foundIn(text: string): boolean;
  /**
   * A redactor for a text that comes in pieces, wherever they are cut: it holds back at most as
   * much as could be the beginning of the longest secret.
   */
  stream(): { push(text: string): string; end(): string };
}

/**
 * Makes a redactor for the given secret values. Each is also found in the forms in which servers
 * and programs repeat it: escaped in a JSON string, percent-encoded, and in base 64.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const needles = [...new Set(secrets.filter(isLongEnough).flatMap(formsOf))]
    .sort((a, b) => b.length - a.length);
  if (needles.length === 0) {
    return {
      redact: (text) => text,
      foundIn: () => false,
      stream: () => ({ push: (text) => text, end: () => "" }),
    };
  }
  const pattern = new RegExp(needles.map(escapePattern).join("|"), "g");
  const redact = (text: string): string => text.replace(pattern, REDACTED);
  return {
    redact,
    foundIn: (text) => needles.some((needle) => text.includes(needle)),
    stream: () => {
      let held = "";
      return {
        push: (text) => {
          const waiting = held + text;
          const keep = openLength(waiting, needles);
          // Cut where no secret can cross: a match that ends before the open part is complete.
          const cut = safeCut(waiting, { at: waiting.length - keep, pattern });
          held = waiting.slice(cut);
          return redact(waiting.slice(0, cut));
        },
        end: () => {
          const rest = held;
          held = "";
          return redact(rest);
        },
      };
    },
  };
}

function isLongEnough(secret: string): boolean {
  return secret.length >= MIN_SECRET_LENGTH;
}

function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), percentEncode(secret)];
  for (const encoded of base64Forms(secret)) if (isLongEnough(encoded)) forms.push(encoded);
  return forms;
}

function percentEncode(secret: string): string {
  // A lone surrogate cannot be encoded; such a secret has no such form.
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret;
}

/** How many bytes at the end of `text` could be the beginning of a needle. */
function openLength(text: string, needles: readonly string[]): number {
  let longest = 0;
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(needle.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}

/** The last place at or before `at` that lies inside no whole secret. */
function safeCut(
  text: string,
  { at, pattern }: { readonly at: number; readonly pattern: RegExp },
): number {
  for (const match of text.matchAll(pattern)) {
    if (match.index >= at) return at;
    if (match.index + match[0].length > at) return match.index;
  }
  return at;
}

function escapePattern(needle: string): string {
  return needle.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/**
 * The base 64 texts that show a secret which stands anywhere inside an encoded text: for each of
 * the three positions within a group, the part that depends on the secret alone.
 */
function base64Forms(secret: string): string[] {
  const bytes = utf8Bytes(secret);
  const forms: string[] = [];
  for (let shift = 0; shift < 3; shift++) {
    const padded = [...new Array<number>(shift).fill(0), ...bytes];
    const encoded = base64(padded);
    const first = Math.ceil(shift * 8 / 6);
    const last = Math.floor(padded.length * 8 / 6);
    forms.push(encoded.slice(first, last));
  }
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(bytes: readonly number[]): string {
  let encoded = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    for (let shift = 18; shift >= 0; shift -= 6) encoded += BASE64.charAt((group >> shift) & 63);
  }
  return encoded;
}

function utf8Bytes(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) {
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    } else {
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 63),
        0x80 | ((point >> 6) & 63),
        0x80 | (point & 63),
      );
    }
  }
  return bytes;
}
