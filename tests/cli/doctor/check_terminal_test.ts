import assert from "node:assert/strict";
import type { TerminalFacts } from "../../../src/cli/composition.ts";
import { judgeTerminal } from "../../../src/cli/doctor/check_terminal.ts";

const USUAL: TerminalFacts = {
  isTerminal: { input: true, output: true },
  columns: 120,
  rows: 40,
  term: "xterm-256color",
  colorTerm: "truecolor",
  noColor: null,
  locale: "C.UTF-8",
};

Deno.test("judgeTerminal() describes a usual terminal in one line", () => {
  const findings = judgeTerminal(USUAL);
  assert.deepEqual(findings.map(({ state }) => state), ["ok"]);
  assert.equal(findings[0]?.detail, "xterm-256color, 120x40, true colour");
});

Deno.test("judgeTerminal() says what is different, and why", () => {
  const cases: readonly (readonly [Partial<TerminalFacts>, RegExp])[] = [
    [{ isTerminal: { input: true, output: false } }, /no terminal: plain text/],
    [{ isTerminal: { input: false, output: true } }, /nobody can be asked/],
    [{ columns: 59 }, /small: output is made for 60x16/],
    [{ rows: 15 }, /small/],
    [{ noColor: "1" }, /no colours \(NO_COLOR\)/],
    [{ term: "dumb" }, /no colours \(TERM=dumb\)/],
    [{ colorTerm: null }, /16 colours/],
    [{ term: null }, /TERM is not set/],
    [{ columns: null }, /size unknown/],
    [{ locale: null }, /locale is not set/],
    [{ locale: "de_DE.ISO-8859-1" }, /"de_DE\.ISO-8859-1" is not UTF-8/],
  ];
  for (const [change, expected] of cases) {
    const text = judgeTerminal({ ...USUAL, ...change }).map(({ detail }) => detail).join("\n");
    assert.match(text, expected, JSON.stringify(change));
  }
});
