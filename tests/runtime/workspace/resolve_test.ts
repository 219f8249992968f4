import assert from "node:assert/strict";
import { TestFolder } from "../../support/repository.ts";
import { TestWorkspace } from "../../support/workspace.ts";

const PART = { firstLine: 1, maxLines: 10, maxBytes: 1000 } as const;

Deno.test("a linked worktree's .git file and the folder it names are protected", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  // A bare layout: the repository lies in the workspace, under a name that says nothing.
  folder.write("store/config", "[core]\n");
  folder.write("store/worktrees/x/HEAD", "ref: refs/heads/main\n");
  folder.write(".git", "gitdir: store/worktrees/x\n");
  folder.write("plain", "x\n");
  await workspace.refused({ type: "read", path: ".git", ...PART }, "protected_path");
  await workspace.refused(
    { type: "read", path: "store/worktrees/x/HEAD", ...PART },
    "protected_path",
  );
  await workspace.refused(
    {
      type: "plan",
      operationId: "op_1" as never,
      change: { type: "create", path: "store/worktrees/x/hooks", content: "x" },
    },
    "protected_path",
  );
  // Hooks and configuration of the repository itself run programs.
  await workspace.read("store/config");
  folder.write("store/worktrees/x/commondir", "../..\n");
  await workspace.refused({ type: "read", path: "store/config", ...PART }, "protected_path");
  await workspace.refused(
    {
      type: "plan",
      operationId: "op_1" as never,
      change: { type: "create", path: "store/hooks/pre-commit", content: "x" },
    },
    "protected_path",
  );
  await workspace.read("plain");
});

Deno.test("a device is refused without being opened", async () => {
  await using workspace = await TestWorkspace.open();
  await workspace.ok({ type: "open", root: "/dev", protectedPaths: [] });
  for (const path of ["zero", "null", "random"]) {
    await workspace.refused({ type: "read", path, ...PART }, "special_file");
    await workspace.refused({ type: "read_bytes", path, maxBytes: 10 }, "special_file");
  }
});

Deno.test("a link loop and a link chain that leaves are refused", async () => {
  using outside = new TestFolder();
  await using workspace = await TestWorkspace.open();
  const { path } = workspace.folder;
  outside.write("s", "secret\n");
  Deno.symlinkSync("b", `${path}/a`);
  Deno.symlinkSync("a", `${path}/b`);
  Deno.symlinkSync("hop2", `${path}/hop1`);
  Deno.symlinkSync(`${outside.path}/s`, `${path}/hop2`);
  await workspace.refused({ type: "read", path: "a", ...PART }, "magic_link");
  await workspace.refused({ type: "read", path: "hop1", ...PART }, "outside_workspace");
});

Deno.test("a workspace inside a protected folder is not opened", async () => {
  using folder = new TestFolder();
  folder.write("config/inner/f", "x");
  await using workspace = await TestWorkspace.open();
  await workspace.refused({
    type: "open",
    root: `${folder.path}/config/inner`,
    protectedPaths: [`${folder.path}/config`],
  }, "protected_path");
});

Deno.test("a protected path that appears later is protected all the same", async () => {
  await using workspace = await TestWorkspace.open();
  const secret = `${workspace.folder.path}/auth`;
  await workspace.ok({ type: "open", root: workspace.folder.path, protectedPaths: [secret] });
  await workspace.refused({ type: "read", path: "auth", ...PART }, "not_found");
  workspace.folder.write("auth", "key\n");
  Deno.linkSync(secret, `${workspace.folder.path}/copy`);
  await workspace.refused({ type: "read", path: "auth", ...PART }, "protected_path");
  await workspace.refused({ type: "read", path: "copy", ...PART }, "protected_path");
});

Deno.test("hard links that lead to nothing protected can be read", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.commit({ "a.txt": "x\n" });
  Deno.linkSync(`${workspace.folder.path}/a.txt`, `${workspace.folder.path}/b.txt`);
  assert.equal((await workspace.read("b.txt")).text, "x");
});

Deno.test("a protected folder inside the workspace hides all that is in it", async () => {
  await using workspace = await TestWorkspace.open();
  const { folder } = workspace;
  folder.write("config/fluzo/deep/auth.toml", "needle\n");
  folder.write("config/other", "needle\n");
  Deno.symlinkSync("config/fluzo", `${folder.path}/alias`);
  await workspace.ok({
    type: "open",
    root: folder.path,
    protectedPaths: [`${folder.path}/config/fluzo`],
  });
  for (const path of ["config/fluzo/deep/auth.toml", "alias/deep/auth.toml"]) {
    await workspace.refused({ type: "read", path, ...PART }, "protected_path");
  }
  for (
    const candidates of [null, new TextEncoder().encode("config/fluzo/deep/x\0config/other\0")]
  ) {
    const { matches } = await workspace.ok({
      type: "search",
      pattern: "needle",
      mode: "literal",
      caseSensitive: true,
      path: ".",
      glob: null,
      maxMatches: 9,
      maxBytes: 999,
      candidates,
    });
    assert.deepEqual(matches.map(({ path }) => path), ["config/other"]);
  }
});
