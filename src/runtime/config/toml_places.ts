import type { PlaceLookup } from "../../core/settings/validate.ts";

/**
 * Finds where each key of a TOML file stands. The parser checks the syntax before this runs, so
 * only valid files come here; it reads just enough of the syntax to tell keys from values.
 */
export function tomlPlaces(text: string): PlaceLookup {
  const places = new Map<string, { readonly line: number; readonly column: number }>();
  new Scanner(text, (path, place) => {
    const key = JSON.stringify(path);
    if (!places.has(key)) places.set(key, place);
  }).file();
  return { at: (path) => places.get(JSON.stringify(path)) ?? null };
}

type Found = (
  path: readonly string[],
  place: { readonly line: number; readonly column: number },
) => void;

class Scanner {
  readonly #text: string;
  readonly #found: Found;
  readonly #arrayCounts = new Map<string, number>();
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string, found: Found) {
    this.#text = text;
    this.#found = found;
  }

  file(): void {
    let table: readonly string[] = [];
    while (this.#skipBlank()) {
      if (this.#peek() === "[") table = this.#header();
      else this.#pair(table);
    }
  }

  #header(): readonly string[] {
    const place = this.#place();
    this.#take("[");
    const array = this.#take("[");
    const path = this.#key();
    this.#take("]");
    if (array) this.#take("]");
    const name = JSON.stringify(path);
    const index = array ? this.#arrayCounts.get(name) ?? 0 : null;
    if (index !== null) this.#arrayCounts.set(name, index + 1);
    this.#tell([], path, place);
    return index === null ? path : [...path, String(index)];
  }

  /** `key = value`, in a table or in an inline table. */
  #pair(table: readonly string[]): void {
    const place = this.#place();
    const key = this.#key();
    this.#skipSpace();
    this.#take("=");
    this.#skipSpace();
    this.#tell(table, key, place);
    this.#value([...table, ...key]);
  }

  /** A dotted key also makes the tables it goes through. */
  #tell(
    table: readonly string[],
    key: readonly string[],
    place: { readonly line: number; readonly column: number },
  ): void {
    for (let length = 1; length <= key.length; length++) {
      this.#found([...table, ...key.slice(0, length)], place);
    }
  }

  #value(path: readonly string[]): void {
    const character = this.#peek();
    if (character === "{") this.#inlineTable(path);
    else if (character === "[") this.#array(path);
    else if (character === '"' || character === "'") this.#string();
    else while (this.#at < this.#text.length && !/[,\]}\n#]/.test(this.#peek())) this.#advance();
  }

  #inlineTable(path: readonly string[]): void {
    this.#take("{");
    while (this.#skipBlank() && this.#peek() !== "}") {
      this.#pair(path);
      this.#skipBlank();
      this.#take(",");
    }
    this.#take("}");
  }

  #array(path: readonly string[]): void {
    this.#take("[");
    for (let index = 0; this.#skipBlank() && this.#peek() !== "]"; index++) {
      this.#value([...path, String(index)]);
      this.#skipBlank();
      this.#take(",");
    }
    this.#take("]");
  }

  #key(): readonly string[] {
    const parts: string[] = [];
    do {
      this.#skipSpace();
      const character = this.#peek();
      if (character === '"' || character === "'") parts.push(this.#string());
      else {
        const start = this.#at;
        while (/[A-Za-z0-9_-]/.test(this.#peek())) this.#advance();
        parts.push(this.#text.slice(start, this.#at));
      }
      this.#skipSpace();
    } while (this.#take("."));
    return parts;
  }

  /** Passes a string of any of the four kinds and returns what a key made of it is called. */
  #string(): string {
    const quote = this.#peek();
    const triple = this.#text.startsWith(quote.repeat(3), this.#at);
    const end = triple ? quote.repeat(3) : quote;
    for (let i = 0; i < end.length; i++) this.#advance();
    const start = this.#at;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) {
      if (quote === '"' && this.#peek() === "\\") this.#advance();
      this.#advance();
    }
    const raw = this.#text.slice(start, this.#at);
    for (let i = 0; i < end.length; i++) this.#advance();
    // A multi-line string may end in one or two quotes of its own.
    while (triple && this.#peek() === quote) this.#advance();
    return quote === '"' && !triple ? unescapeKey(raw) : raw;
  }

  /** Passes blanks, line ends and comments; false at the end of the text. */
  #skipBlank(): boolean {
    while (this.#at < this.#text.length) {
      const character = this.#peek();
      if (character === "#") {
        while (this.#at < this.#text.length && this.#peek() !== "\n") this.#advance();
      } else if (/\s/.test(character)) this.#advance();
      else return true;
    }
    return false;
  }

  #skipSpace(): void {
    while (this.#peek() === " " || this.#peek() === "\t") this.#advance();
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#advance();
    return true;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #advance(): void {
    if (this.#peek() === "\n") {
      this.#line++;
      this.#lineStart = this.#at + 1;
    }
    this.#at++;
  }

  #place(): { readonly line: number; readonly column: number } {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }
}

/** Basic-string escapes are those of JSON, with `\U` and `\e` besides; a key has them rarely. */
function unescapeKey(raw: string): string {
  return raw.replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs, (_all, u, long, simple) => {
    if (u !== undefined || long !== undefined) return String.fromCodePoint(parseInt(u ?? long, 16));
    return new Map([["n", "\n"], ["t", "\t"], ["r", "\r"], ["b", "\b"], ["f", "\f"], ["e", "\x1b"]])
      .get(simple) ?? simple;
  });
}
