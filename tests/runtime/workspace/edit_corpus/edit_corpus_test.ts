import assert from "node:assert/strict";
import fc from "fast-check";
import type { Digest } from "../../../../src/core/digest.ts";
import { TestWorkspace } from "../../../support/workspace.ts";
import { reportLine } from "../../../support/report_line.ts";
import { CASES, type Content, type EditCase, MEANWHILE } from "./_cases.ts";

/** Runs of the property test. */
const RUNS = 300;

/** A run with another seed makes other files: `FLUZO_SEED=7 deno test …`. */
const SEED = Number(Deno.env.get("FLUZO_SEED") ?? 20261206);

const NO_DIGEST = "0".repeat(64) as Digest;

function bytesOf(content: Content): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

function fileIn({ folder }: TestWorkspace): Uint8Array {
  return Deno.readFileSync(`${folder.path}/f`);
}

async function digestOf(workspace: TestWorkspace): Promise<Digest> {
  const [version] = await workspace.ok({ type: "versions", paths: ["f"] });
  return version?.ok === true && version.value.state === "file" ? version.value.digest : NO_DIGEST;
}

async function change(workspace: TestWorkspace, edits: EditCase["edits"]) {
  return {
    type: "edit",
    path: "f",
    expected: await digestOf(workspace),
    replacements: edits.map(({ old, new: now, all = false }) => ({
      oldText: old,
      newText: now,
      all,
    })),
  } as const;
}

Deno.test("an edit keeps every byte it was not asked to change, or is refused", async () => {
  await using workspace = await TestWorkspace.open();
  for (const { name, before, edits, after } of CASES) {
    Deno.writeFileSync(`${workspace.folder.path}/f`, bytesOf(before));
    const asked = await change(workspace, edits);
    if (typeof after === "string" || after instanceof Uint8Array) {
      await (await workspace.plan(asked)).apply();
      assert.deepEqual(fileIn(workspace), bytesOf(after), name);
    } else {
      const detail = await workspace.planRefused(asked, after.refused);
      assert.match(detail, after.says ?? /.*/, name);
      assert.ok(fileIn(workspace).every((byte, i) => byte === bytesOf(before)[i]), name);
      assert.ok(detail.length < 400, `${name}: the answer is long`);
    }
    assert.deepEqual([...Deno.readDirSync(workspace.folder.path)].map((entry) => entry.name), [
      "f",
    ]);
  }
  assert.equal(new Set(CASES.map(({ name }) => name)).size, CASES.length);
  reportLine(`edit corpus: ${CASES.length + MEANWHILE.length} cases`);
});

Deno.test("an edit of a file that changed meanwhile is refused and leaves what is there", async () => {
  for (const { name, moment, happens, refused } of MEANWHILE) {
    await using workspace = await TestWorkspace.open();
    const path = `${workspace.folder.path}/f`;
    Deno.writeTextFileSync(path, "one\n");
    const asked = await change(workspace, [{ old: "one", new: "two" }]);
    if (moment === "after the read") {
      happens(path);
      // A name that is gone is not found; what stands there instead is told for what it is.
      const absent = name === "it is deleted" ? "not_found" : refused;
      await workspace.planRefused(asked, absent);
    } else {
      const planned = await workspace.plan(asked);
      happens(path);
      await planned.applyRefused(refused);
    }
    const before = [...Deno.readDirSync(workspace.folder.path)].map((entry) => entry.name).sort();
    assert.ok(before.every((entry) => entry.startsWith("f")), `${name}: ${before}`);
    for (const entry of before) {
      const info = Deno.lstatSync(`${workspace.folder.path}/${entry}`);
      if (info.isFile) {
        const text = workspace.folder.read(entry);
        assert.ok(!text.includes("two"), `${name}, ${moment}: it was written`);
      }
    }
  }
});

/** A file: lines with their endings, perhaps a mark, perhaps no final newline. */
const FILE = fc.record({
  bom: fc.boolean(),
  lines: fc.array(
    fc.tuple(
      fc.string({
        unit: fc.constantFrom("a", "b", " ", "\t", "$", "&", "é", "e\u0301", "😀", "\\"),
      }),
      fc.constantFrom("\n", "\r\n", "\n", "\r\n", "\r"),
    ),
    { minLength: 1, maxLength: 12 },
  ),
  last: fc.string({ unit: fc.constantFrom("a", "z", "漢"), maxLength: 4 }),
});

Deno.test(`random edits of random files agree with cutting the bytes, seed ${SEED}`, async () => {
  await using workspace = await TestWorkspace.open();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      FILE,
      fc.nat(),
      fc.nat(),
      fc.string({ unit: fc.constantFrom("x", "$&", "$1", "é", "\t"), maxLength: 6 }),
      async ({ bom, lines, last }, a, b, inserted) => {
        const text = lines.map(([line, ending]) => line + ending).join("") + last;
        // Places between two characters, never inside a CRLF or a surrogate pair.
        const places = Array.from({ length: text.length + 1 }, (_, i) => i).filter((i) =>
          !(text[i - 1] === "\r" && text[i] === "\n") && !/[\udc00-\udfff]/.test(text[i] ?? "")
        );
        const from = places[Math.min(a, b) % places.length] ?? 0;
        const to = places.filter((place) => place > from)[Math.max(a, b) % places.length];
        if (to === undefined) return;
        const old = text.slice(from, to).replaceAll("\r\n", "\n");
        const seen = text.replaceAll("\r\n", "\n");
        const unique = seen.indexOf(old) === seen.lastIndexOf(old);
        if (!unique || old === inserted) return;
        const mark = bom ? "\ufeff" : "";
        Deno.writeTextFileSync(`${workspace.folder.path}/f`, mark + text);
        const asked = await change(workspace, [{ old, new: inserted }]);
        await (await workspace.plan(asked)).apply();
        const expected = mark + text.slice(0, from) + inserted + text.slice(to);
        assert.deepEqual(fileIn(workspace), bytesOf(expected), JSON.stringify({ text, old }));
        made++;
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
  assert.ok(made > RUNS / 4, `only ${made} of ${RUNS} files had a place to edit`);
});
