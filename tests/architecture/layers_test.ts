import assert from "node:assert/strict";
import { forbiddenEdges, readGraph, sourceFiles, valueCycles } from "../support/module_graph.ts";

const SOURCE = new URL("../../src", import.meta.url).pathname;
const PLANTED = new URL("fixtures/layers/src", import.meta.url).pathname;

Deno.test("the layers of src import only what they may", async () => {
  const edges = await readGraph(SOURCE);
  assert.ok(edges.length > sourceFiles(SOURCE).length, "the graph is not complete");
  assert.deepEqual(forbiddenEdges(edges), []);
  assert.deepEqual(valueCycles(edges), []);
});

Deno.test("the layer prover finds planted violations", async () => {
  const edges = await readGraph(PLANTED);
  assert.deepEqual([...forbiddenEdges(edges)].sort(), [
    "core/upwards.ts -> runtime/_private.ts: core must not import runtime",
    "core/upwards.ts -> runtime/_private.ts: the file is private to its folder",
    "tui/sideways.ts -> runtime/cycle_a.ts: tui must not import runtime",
  ]);
  assert.deepEqual(valueCycles(edges), [["runtime/cycle_a.ts", "runtime/cycle_b.ts"]]);
});

Deno.test("src never imports tests or scenarios, and re-exports nothing", () => {
  for (const file of sourceFiles(SOURCE)) {
    const text = Deno.readTextFileSync(file);
    assert.doesNotMatch(text, /from "[./]+\/(?:tests|scenarios)\//, file);
    assert.doesNotMatch(text, /^export (?:\*|\{[^}]*\}) from /m, `${file} is a barrel`);
  }
});

Deno.test("every module under src has its place in the description of the architecture", () => {
  const described = Deno.readTextFileSync(new URL("../../docs/architecture.md", import.meta.url));
  const folders = new Set(
    sourceFiles(SOURCE).map((file) => file.slice(SOURCE.length + 1, file.lastIndexOf("/"))),
  );
  for (const folder of folders) {
    assert.ok(
      described.includes(`src/${folder}`),
      `docs/architecture.md does not name src/${folder}`,
    );
  }
});
