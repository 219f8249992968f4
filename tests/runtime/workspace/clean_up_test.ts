import assert from "node:assert/strict";
import { digestOf } from "../../../src/runtime/workspace/_content.ts";
import type { Leftover, UnfinishedChange } from "../../../src/runtime/workspace/protocol.ts";
import { countingIds } from "../../support/ids.ts";
import { TestWorkspace } from "../../support/workspace.ts";

const OPERATION = countingIds().next("operation");
const NAME = `.fluzo-tmp-${OPERATION}`;
const OLD = "old\n";
const NEW = "new\n";

interface Case {
  readonly action: UnfinishedChange["action"];
  /** What the file holds, or null for none. */
  readonly file: string | null;
  readonly temporary: string | null;
  readonly beforeKept: boolean;
  readonly becomes: Leftover["type"];
}

/** A killed change at each of its moments, and what may be removed then. */
const CASES: readonly (readonly [name: string, Case])[] = [
  ["nothing was written yet", change("edit", OLD, null, "none")],
  ["a part was written", change("edit", OLD, "ne", "removed")],
  ["all was written", change("edit", OLD, NEW, "removed")],
  ["both were exchanged", change("edit", NEW, OLD, "removed")],
  ["both were exchanged and the old content is nowhere else", {
    ...change("edit", NEW, OLD, "kept"),
    beforeKept: false,
  }],
  ["somebody else's content came out", change("edit", NEW, "theirs\n", "kept")],
  ["the file went on and ours is left", change("edit", "theirs\n", NEW, "removed")],
  ["a new file was written in part", change("create", null, "ne", "removed")],
  ["a file was taken away and not removed", change("delete", null, OLD, "removed")],
  ["a file was taken away and is nowhere else", {
    ...change("delete", null, OLD, "kept"),
    beforeKept: false,
  }],
  ["another file was taken away", change("delete", null, "theirs\n", "kept")],
];

function change(
  action: Case["action"],
  ...[file, temporary, becomes]: [Case["file"], Case["temporary"], Case["becomes"]]
): Case {
  return { action, file, temporary, beforeKept: true, becomes };
}

for (const [name, { action, file, temporary, beforeKept, becomes }] of CASES) {
  Deno.test(`clean up after a killed ${action}: ${name}`, async () => {
    await using workspace = await TestWorkspace.open();
    const { folder } = workspace;
    folder.write("sub/other.txt", "other\n");
    if (file !== null) folder.write("sub/f.txt", file);
    if (temporary !== null) folder.write(`sub/${NAME}`, temporary);
    const leftover = await workspace.ok({
      type: "clean_up",
      change: {
        operationId: OPERATION,
        action,
        path: "sub/f.txt",
        before: action === "create" ? "absent" : await digest(OLD),
        after: action === "delete" ? "absent" : await digest(NEW),
        beforeKept,
      },
    });
    assert.deepEqual(
      leftover,
      becomes === "kept" ? { type: "kept", name: `sub/${NAME}` } : { type: becomes },
    );
    assert.equal(folder.exists(`sub/${NAME}`), becomes === "kept");
    assert.equal(folder.exists("sub/f.txt"), file !== null);
    if (file !== null) assert.equal(folder.read("sub/f.txt"), file);
  });
}

Deno.test("clean up looks at no link, no folder and nothing outside", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("f.txt", OLD);
  folder.write("precious", NEW);
  Deno.symlinkSync("precious", `${folder.path}/${NAME}`);
  const request = {
    type: "clean_up",
    change: {
      operationId: OPERATION,
      action: "edit",
      path: "f.txt",
      before: null,
      after: await digest(NEW),
      beforeKept: true,
    },
  } as const;
  assert.equal((await workspace.ok(request)).type, "kept");
  assert.equal(folder.read("precious"), NEW);
  Deno.removeSync(`${folder.path}/${NAME}`);
  folder.write(NAME, "half");
  folder.write("folder/inside", "");
  const unreadable = { ...request, change: { ...request.change, path: "folder" } };
  assert.equal((await workspace.ok(unreadable)).type, "kept");
  const gone = { ...request, change: { ...request.change, path: "no/such/f.txt" } };
  assert.equal((await workspace.ok(gone)).type, "none");
  const outside = { ...request, change: { ...request.change, path: "../f.txt" } };
  await workspace.refused(outside, "outside_workspace");
});

function digest(text: string) {
  return digestOf(new TextEncoder().encode(text));
}
