import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { generateDocs } from "../../docs/generate.ts";

const ROOT = new URL("../../", import.meta.url);

function documents(): readonly string[] {
  const below = (folder: string): string[] =>
    [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) =>
      isDirectory ? below(`${folder}${name}/`) : name.endsWith(".md") ? [`${folder}${name}`] : []
    );
  return ["README.md", "CHANGELOG.md", "scenarios/README.md", ...below("docs/")];
}

Deno.test("the generated documents are fresh: otherwise run `deno task docs`", () => {
  for (const [name, text] of generateDocs()) {
    assert.equal(Deno.readTextFileSync(new URL(`docs/${name}`, ROOT)), text, name);
  }
});

Deno.test("every link and every file that a document names is there", () => {
  for (const name of documents()) {
    const text = Deno.readTextFileSync(new URL(name, ROOT));
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link]) =>
      link ?? ""
    );
    for (const link of links) {
      const target = new URL(link, new URL(name, ROOT));
      assert.ok(Deno.statSync(target), `${name}: ${link}`);
    }
    const files = [...text.matchAll(/`((?:src|tests|docs|scenarios)\/[\w./-]*\.(?:ts|md|json))`/g)];
    for (const [, file] of files) {
      assert.ok(Deno.statSync(new URL(file ?? "", ROOT)), `${name}: ${file}`);
    }
  }
});

Deno.test("every task that a document names exists", () => {
  const tasks = Object.keys(config.tasks);
  for (const name of documents()) {
    const text = Deno.readTextFileSync(new URL(name, ROOT));
    for (const [, task] of text.matchAll(/(?:deno|deno@2\.9\.6) task (?:--\S+ )*([a-z]+)/g)) {
      assert.ok(tasks.includes(task ?? ""), `${name}: deno task ${task}`);
    }
  }
});
