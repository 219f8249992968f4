import assert from "node:assert/strict";
import {
  startWorkspaceWorker,
  type WorkspaceWorker,
} from "../../../../src/runtime/workspace/client.ts";
import { TestFolder } from "../../../support/repository.ts";
import { TestHost } from "../../../support/test_host.ts";
import {
  CLASSES,
  expected,
  type Ground,
  layGround,
  type PathClass,
  protectedPaths,
} from "./_classes.ts";
import { attempt, OPERATIONS } from "./_operations.ts";
import { reportLine } from "../../../support/report_line.ts";

/** A prepared workspace, copied for every class. */
function template(): TestFolder {
  const folder = new TestFolder();
  folder.commit({ "plain.txt": "inside\n", "dir/deep.txt": "deep\n" });
  return folder;
}

/** Ground with a trap on it, and the worker looking at it. */
async function laid(
  { lay }: PathClass,
  { worker, from }: { readonly worker: WorkspaceWorker; readonly from: TestFolder },
): Promise<Ground & Disposable> {
  const inside = new TestFolder();
  const outside = new TestFolder();
  const open: Disposable[] = [];
  const ground = { inside, outside, open };
  const copied = new Deno.Command("cp", { args: ["-a", `${from.path}/.`, inside.path] })
    .outputSync();
  assert.ok(copied.success);
  layGround(ground);
  lay?.(ground);
  const opened = await worker.call({
    type: "open",
    root: inside.path,
    protectedPaths: protectedPaths(ground),
  });
  assert.ok(opened.ok);
  return {
    ...ground,
    [Symbol.dispose]: () => {
      for (const held of open) held[Symbol.dispose]();
      inside[Symbol.dispose]();
      outside[Symbol.dispose]();
    },
  };
}

/** Every name below a folder with what it is and holds. */
function treeOf(path: string, only: (name: string) => boolean = () => true): readonly string[] {
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const { name, isDirectory, isFile, isSymlink } of Deno.readDirSync(`${path}/${folder}`)) {
      const below = folder === "" ? name : `${folder}/${name}`;
      if (folder === "" && !only(name)) continue;
      const full = `${path}/${below}`;
      // Not UTF-8: no text of this runtime names it.
      if (name.includes("\ufffd")) {
        found.push(below);
        continue;
      }
      const { mode, nlink } = Deno.lstatSync(full);
      const content = isFile
        ? new TextDecoder("latin1").decode(Deno.readFileSync(full))
        : isSymlink
        ? Deno.readLinkSync(full)
        : "";
      found.push(`${below} ${mode} ${isDirectory ? "" : nlink} ${content}`);
      if (isDirectory) walk(below);
    }
  };
  walk("");
  return found.sort();
}

const PROTECTED = (name: string): boolean =>
  /^(\.git|\.fluzo|\.fluzodrive|real|shared|auth\.toml|hard|notes\.txt|twin)$/i.test(name);

Deno.test("nothing gets out of a workspace, and each refusal says why", async () => {
  using from = template();
  await using worker = startWorkspaceWorker();
  let checks = 0;
  for (const path of CLASSES) {
    const mutating = OPERATIONS.filter((operation) =>
      expected(path, operation) === "done" &&
      !["read", "read_bytes", "versions", "list", "search"].includes(operation)
    );
    {
      using ground = await laid(path, { worker, from });
      const before = [treeOf(ground.inside.path), treeOf(ground.outside.path)];
      for (const operation of OPERATIONS.filter((one) => !mutating.includes(one))) {
        const verdict = await attempt(worker, operation, path.path);
        assert.equal(verdict, expected(path, operation), `${path.name}: ${operation}`);
        checks++;
      }
      const after = [treeOf(ground.inside.path), treeOf(ground.outside.path)];
      assert.deepEqual(after, before, `${path.name}: something changed`);
    }
    for (const operation of mutating) {
      using ground = await laid(path, { worker, from });
      const kept = () => [treeOf(ground.inside.path, PROTECTED), treeOf(ground.outside.path)];
      const before = kept();
      assert.equal(
        await attempt(worker, operation, path.path),
        "done",
        `${path.name}: ${operation}`,
      );
      assert.deepEqual(kept(), before, `${path.name}: ${operation} reached what is protected`);
      checks++;
    }
  }
  assert.equal(checks, CLASSES.length * OPERATIONS.length);
  assert.equal(new Set(CLASSES.map(({ name }) => name)).size, CLASSES.length);
  reportLine(`escape corpus: ${CLASSES.length} cases, ${checks} checks`);
});

Deno.test("the tools of the model meet the same refusals, and say nothing of what is outside", async () => {
  const hostile = CLASSES.filter(({ verdicts }) =>
    ["outside_workspace", "protected_path", "magic_link", "special_file"].includes(verdicts.look)
  );
  // One workspace for all: only what lays no trap, or traps under names of their own.
  const plain = hostile.filter(({ lay }) => lay === undefined);
  assert.ok(plain.length >= 15);
  await using test = await TestHost.open([
    {
      calls: plain.flatMap(({ path }, index) => [
        // One that succeeds: a row of refusals alone would end the task.
        { name: "write", arguments: { path: `made${index}.txt`, content: "made\n" } },
        { name: "read", arguments: { path } },
        { name: "write", arguments: { path, content: "made\n" } },
        { name: "list", arguments: { path } },
        { name: "search", arguments: { pattern: "e", path } },
      ]),
    },
    { text: "done" },
  ], { config: "[harness]\nmax_tool_calls = 500\n" });
  const config = test.folder.read(".fluzo");
  const { task } = await test.run();
  assert.equal(task.state, "completed", JSON.stringify(task.result?.error));
  const answers = test.adapter.requests[1]?.messages.filter(({ role }) => role === "tool") ?? [];
  const results = answers.filter((_, index) => index % 5 !== 0);
  assert.equal(results.length, plain.length * 4);
  for (const result of results) {
    assert.ok(result.role === "tool" && result.outcome === "error", JSON.stringify(result));
    assert.doesNotMatch(result.text, /root:|schema_version|\[core\]/);
  }
  assert.equal(test.folder.read(".fluzo"), config);
});
