import type { WorkspaceReason } from "../../../../src/core/errors.ts";

/** Texts stand for their UTF-8 bytes; bytes stand for themselves. */
export type Content = string | Uint8Array;

/** One edit of one file: what must be in it afterwards, byte for byte, or why it is refused. */
export interface EditCase {
  readonly name: string;
  readonly before: Content;
  /** Replacements in their order. */
  readonly edits: readonly {
    readonly old: string;
    readonly new: string;
    readonly all?: boolean;
  }[];
  readonly after:
    | Content
    | { readonly refused: WorkspaceReason; readonly says?: RegExp };
}

const one = (
  name: string,
  before: Content,
  [old, now]: readonly [old: string, now: string],
  after: EditCase["after"],
): EditCase => ({ name, before, edits: [{ old, new: now }], after });

const every = (
  name: string,
  before: Content,
  [old, now]: readonly [old: string, now: string],
  after: EditCase["after"],
): EditCase => ({ name, before, edits: [{ old, new: now, all: true }], after });

const missed = (says: RegExp): EditCase["after"] => ({ refused: "no_match", says });

const bytes = (...parts: readonly (string | number)[]): Uint8Array =>
  new Uint8Array(
    parts.flatMap((part) =>
      typeof part === "number" ? [part] : [...new TextEncoder().encode(part)]
    ),
  );

/** More than an edit may have to keep in memory. */
const HUGE_BYTES = 17 * 1024 * 1024;

export const CASES: readonly EditCase[] = [
  // Line endings
  one("CRLF is matched by LF and kept", "a\r\nb\r\nc\r\n", ["a\nb", "x\ny"], "x\r\ny\r\nc\r\n"),
  one(
    "a new line in a CRLF file is CRLF",
    "a\r\nb\r\nc\r\n",
    ["a\nb", "x\ny\n"],
    "x\r\ny\r\n\r\nc\r\n",
  ),
  one("CRLF in the old text matches CRLF", "a\r\nb\r\n", ["a\r\nb", "x\r\ny"], "x\r\ny\r\n"),
  one("CRLF in the old text matches LF", "a\nb\n", ["a\r\nb", "x\r\ny"], "x\ny\n"),
  one("a line is added to a CRLF file without a final one", "a\r\nb", ["b", "x\ny"], "a\r\nx\r\ny"),
  one(
    "mixed endings: every other line stays",
    "a\r\nb\nc\r\nd\n",
    ["b\nc", "B\nC"],
    "a\r\nB\nC\r\nd\n",
  ),
  one(
    "mixed endings: a new line follows its neighbour",
    "a\nb\r\nc",
    ["b", "x\ny"],
    "a\nx\r\ny\r\nc",
  ),
  one("mixed endings: each new line takes that of the old", "a\nb\r\nc\nd", [
    "a\nb\nc\n",
    "1\n2\n3\n4\n",
  ], "1\n2\r\n3\n4\nd"),
  one("a line less in a CRLF file", "\r\n\r\nx", ["\n\nx", "\ny"], "\r\ny"),
  one("a lone CR is an ordinary character", "a\rb\r\n", ["a\rb", "c\rd"], "c\rd\r\n"),
  one("a line becomes two in a file of one", "one line", ["one", "1\n2"], "1\n2 line"),
  one(
    "a line separator of Unicode is no line end",
    "a\u2028b\n",
    ["a\u2028b", "x\u2028y"],
    "x\u2028y\n",
  ),
  one("a next-line character stays", "a\u0085b\n", ["b", "c"], "a\u0085c\n"),
  one("a form feed stays", "a\fb\n", ["b", "c"], "a\fc\n"),
  // Final newline and byte order mark
  one("no final newline stays none", "a\nb", ["b", "c"], "a\nc"),
  one("a final newline can be taken away", "a\nb\n", ["b\n", "c"], "a\nc"),
  one("several final newlines stay", "a\n\n\n", ["a", "b"], "b\n\n\n"),
  one("a byte order mark stays", "\ufeffhello\nx\n", ["hello", "bye"], "\ufeffbye\nx\n"),
  one("a byte order mark and CRLF stay", "\ufeffa\r\nb\r\n", ["a\nb", "c\nd"], "\ufeffc\r\nd\r\n"),
  one("a mark in the middle is a character", "a\ufeffb\n", ["b", "c"], "a\ufeffc\n"),
  one(
    "a byte order mark is not part of the first line",
    "\ufeffa\n",
    ["\ufeffa", "b"],
    missed(/.*/),
  ),
  // Replacement is literal
  one(
    "dollar patterns are literal",
    'log("done");',
    ["done", "$& $1 $$ $' ok"],
    'log("$& $1 $$ $\' ok");',
  ),
  one("dollar patterns at both ends", "a b c\n", ["b", "$`$'"], "a $`$' c\n"),
  one("named groups are literal", "x\n", ["x", "$<name>"], "$<name>\n"),
  one("backslashes are literal", "x\n", ["x", "\\1\\n\\\\"], "\\1\\n\\\\\n"),
  one("the old text is no pattern", "a.c abc\n", ["a.c", "x"], "x abc\n"),
  one("brackets in the old text", "f(a[0])*\n", ["(a[0])*", "()"], "f()\n"),
  one("an empty new text deletes", "abc\n", ["b", ""], "ac\n"),
  one("everything deleted", "abc", ["abc", ""], ""),
  // Characters
  one(
    "tabs and spaces are exact",
    "\tif x\n    if y\n",
    ["    if y", "\tif z"],
    "\tif x\n\tif z\n",
  ),
  one("the space after a match stays", "foo   bar baz", ["foo   bar", "XY"], "XY baz"),
  one("spaces at the end of a line stay", "a  \nb\n", ["b", "c"], "a  \nc\n"),
  one("NFC and NFD are different", "e\u0301 \u00e9\n", ["\u00e9", "E"], "e\u0301 E\n"),
  one("a part of a composed character", "e\u0301\n", ["e", "a"], "a\u0301\n"),
  one("characters beyond the basic plane", "\u{1f600} a\n", ["\u{1f600}", "\u6f22"], "\u6f22 a\n"),
  one(
    "a sequence of joined characters",
    "\u{1f468}\u200d\u{1f469} x\n",
    ["x", "y"],
    "\u{1f468}\u200d\u{1f469} y\n",
  ),
  one("characters of no width stay", "a\u200bb\u00ad\n", ["b", "c"], "a\u200bc\u00ad\n"),
  one("turning characters stay", "\u202eabc\u202c d\n", ["d", "e"], "\u202eabc\u202c e\n"),
  one("control characters stay", "\x1b[31mred\x07 x\n", ["x", "y"], "\x1b[31mred\x07 y\n"),
  one(
    "a no-break space is no space",
    "a\u00a0b\n",
    ["a b", "c"],
    missed(/tabs and spaces|blank|space/),
  ),
  // Place
  one("at the very beginning", "abc\n", ["a", "x"], "xbc\n"),
  one("at the very end", "abc", ["c", "x"], "abx"),
  one("the whole file", "abc\n", ["abc\n", "x"], "x"),
  one("an empty line", "a\n\nb\n", ["a\n\nb", "a\nb"], "a\nb\n"),
  one(
    "in a very long line",
    `${"x".repeat(200_000)}needle\n`,
    ["needle", "n"],
    `${"x".repeat(200_000)}n\n`,
  ),
  one(
    "in the last of many lines",
    `${"line\n".repeat(50_000)}last`,
    ["last", "end"],
    `${"line\n".repeat(50_000)}end`,
  ),
  // Several
  every("all, when asked", "a b a\na\n", ["a", "$&x"], "$&x b $&x\n$&x\n"),
  every("all: what was inserted is not replaced again", "aXaXa", ["a", "aa"], "aaXaaXaa"),
  every("all: overlapping ones once", "aaa", ["aa", "b"], "ba"),
  every("all: each keeps its ending", "x\r\nx\nx\r\n", ["x\n", "$1\n"], "$1\r\n$1\n$1\r\n"),
  one("several matches are refused and counted", "a\nb\na\r\na\n", ["a", "x"], {
    refused: "ambiguous_match",
    says: /^3 matches, on lines 1, 3, 4$/,
  }),
  one("overlapping matches are several", "aaa", ["aa", "x"], {
    refused: "ambiguous_match",
    says: /^2 matches, on lines 1, 1$/,
  }),
  one("very many matches are counted, not all named", "x\n".repeat(50), ["x", "y"], {
    refused: "ambiguous_match",
    says: /^50 matches, on lines 1, 2, .*20, …$/,
  }),
  {
    name: "several edits, each to the result of the one before",
    before: "a\nb\nc\n",
    edits: [{ old: "a", new: "b" }, { old: "b\nb", new: "x" }],
    after: "x\nc\n",
  },
  {
    name: "several edits, one of which does not match: none is made",
    before: "a\nb\n",
    edits: [{ old: "a", new: "x" }, { old: "zz", new: "y" }],
    after: missed(/.*/),
  },
  {
    name: "several edits: what one took away is not there for the next",
    before: "a\nb\n",
    edits: [{ old: "a\n", new: "" }, { old: "a", new: "y" }],
    after: missed(/.*/),
  },
  // No match, and the nearest place
  one("in an empty file", "", ["a", "x"], missed(/empty/)),
  one("an empty old text", "abc", ["", "x"], missed(/old text is empty/)),
  one("other indentation", "x\n   if a:\n", ["    if a:", "x"], missed(/line 2.*indentation/)),
  one("a tab for spaces", "\tif a:\n", ["    if a:", "x"], missed(/line 1.*indentation.*\\t/)),
  one(
    "spaces at the end of a line",
    "a = 1   \nb\n",
    ["a = 1\nb", "x"],
    missed(/line 1.*spaces at the end/),
  ),
  one("spaces in the line", "a =  1\n", ["a = 1", "x"], missed(/line 1.*tabs and spaces/)),
  one("curly quotes", "say(\u201Chi\u201D)\n", ['say("hi")', "x"], missed(/line 1.*quotes/)),
  one("a long dash", "a \u2013 b\n", ["a - b", "x"], missed(/line 1.*dashes/)),
  one("another case", "Const a\n", ["const a", "x"], missed(/line 1.*case/)),
  one("another normal form", "caf\u00e9\n", ["cafe\u0301", "x"], missed(/line 1.*normalisation/)),
  one(
    "several differences",
    "  Foo('x')\n",
    ['    foo("x")', "x"],
    missed(/line 1.*indentation.*quotes.*case/),
  ),
  one(
    "a digit",
    "first line\nlet total = 10;\n",
    ["let total = 12;", "x"],
    missed(/line 2: differs from column 14/),
  ),
  one(
    "text past the end",
    "one\ntwo\n",
    ["one\ntwo\nthree\nfour", "x"],
    missed(/goes past the end/),
  ),
  one(
    "a very long line",
    `${"x".repeat(50_000)}A\n`,
    [`${"x".repeat(50_000)}B`, "y"],
    missed(/case|differs/),
  ),
  one("nothing alike", "alpha\n", ["completely different", "x"], missed(/no line is close/)),
  // What cannot be kept byte for byte
  one("Latin-1", bytes("x = 1; // caf", 0xe9, "\n"), ["x", "y"], { refused: "not_utf8" }),
  one("UTF-16", bytes(0xff, 0xfe, "x", 0, "\n", 0), ["x", "y"], { refused: "binary" }),
  one("Shift-JIS", bytes(0x93, 0xfa, 0x96, 0x7b, " x\n"), ["x", "y"], { refused: "not_utf8" }),
  one("an over-long encoding", bytes("x", 0xc0, 0xaf, "\n"), ["x", "y"], { refused: "not_utf8" }),
  one("half a surrogate pair in bytes", bytes("x", 0xed, 0xa0, 0x80, "\n"), ["x", "y"], {
    refused: "not_utf8",
  }),
  one("a cut character at the end", bytes("x\n", 0xe2, 0x82), ["x", "y"], { refused: "not_utf8" }),
  one("a NUL", bytes("x", 0, "\n"), ["x", "y"], { refused: "binary" }),
  one("a NUL far behind", bytes("x\n".repeat(20_000), 0), ["zz", "y"], { refused: "binary" }),
  one("more than fits", new Uint8Array(HUGE_BYTES).fill(0x78), ["zz", "y"], {
    refused: "too_large",
  }),
  // No change
  one("old and new are the same", "a\n", ["a", "a"], { refused: "no_match" }),
];

/** Something that happens to the file while it is being edited. */
export interface MeanwhileCase {
  readonly name: string;
  readonly moment: "after the read" | "after the plan";
  readonly happens: (path: string) => void;
  readonly refused: WorkspaceReason;
}

const HAPPENINGS: readonly Omit<MeanwhileCase, "moment">[] = [
  {
    name: "it grows",
    happens: (path) => Deno.writeTextFileSync(path, "more\n", { append: true }),
    refused: "stale_version",
  },
  {
    name: "one byte changes, and its size and time do not",
    happens: (path) => {
      const { atime, mtime } = Deno.statSync(path);
      Deno.writeTextFileSync(path, "One\n");
      Deno.utimeSync(path, atime ?? 0, mtime ?? 0);
    },
    refused: "stale_version",
  },
  { name: "it is emptied", happens: (path) => Deno.truncateSync(path), refused: "stale_version" },
  {
    name: "it is replaced by a rename",
    happens: (path) => {
      Deno.writeTextFileSync(`${path}.new`, "theirs\n");
      Deno.renameSync(`${path}.new`, path);
    },
    refused: "stale_version",
  },
  { name: "it is deleted", happens: (path) => Deno.removeSync(path), refused: "stale_version" },
  {
    name: "it becomes a folder",
    happens: (path) => {
      Deno.removeSync(path);
      Deno.mkdirSync(path);
    },
    refused: "is_directory",
  },
  {
    name: "it becomes a link",
    happens: (path) => {
      Deno.renameSync(path, `${path}.real`);
      Deno.symlinkSync("f.real", path);
    },
    refused: "through_link",
  },
  {
    name: "it gets a second name",
    happens: (path) => Deno.linkSync(path, `${path}.twin`),
    refused: "multiply_linked",
  },
];

export const MEANWHILE: readonly MeanwhileCase[] = (["after the read", "after the plan"] as const)
  .flatMap((moment) => HAPPENINGS.map((happening) => ({ ...happening, moment })));
