import assert from "node:assert/strict";
import type { WorkspaceReason } from "../../../src/core/errors.ts";
import type { FileChange } from "../../../src/runtime/workspace/protocol.ts";
import { countingIds } from "../../support/ids.ts";
import { TestFolder } from "../../support/repository.ts";
import { TestWorkspace } from "../../support/workspace.ts";

function sh(folder: TestFolder, script: string): void {
  const { success, stderr } = new Deno.Command("/bin/sh", {
    args: ["-c", script],
    cwd: folder.path,
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Sets up every way out of a workspace that a repository could hold. */
function layTraps(inside: TestFolder, outside: TestFolder): void {
  outside.write("secret.txt", "outside\n");
  inside.commit({ "plain.txt": "inside\n", "dir/deep.txt": "deep\n" });
  inside.write(".fluzo", "schema_version = 1\n");
  inside.write(".fluzodrive/state", "private\n");
  sh(
    inside,
    `ln -s '${outside.path}' out; ln -s '${outside.path}/secret.txt' leak; ln -s ../.. up;
     ln -s '${outside.path}/new.txt' dangling; ln -s /proc/self/root magic;
     ln -s /proc/self/fd/0 magic2; ln -s .git gitlink; ln -s .fluzo configlink;
     ln .git/config hardconfig; ln .fluzo hardfluzo; ln -s plain.txt inner; ln -s dir innerdir;
     mkfifo fifo; ln plain.txt twin; mkdir sub; mkdir sub/.git; echo x > sub/.git/config`,
  );
}

const READS: readonly (readonly [path: string, reason: WorkspaceReason])[] = [
  ["../x", "outside_workspace"],
  ["dir/../../x", "outside_workspace"],
  ["/etc/passwd", "outside_workspace"],
  ["out/secret.txt", "outside_workspace"],
  ["leak", "outside_workspace"],
  ["up/etc/passwd", "outside_workspace"],
  ["dangling", "outside_workspace"],
  [".git/config", "protected_path"],
  [".GIT/config", "protected_path"],
  ["./.git/./config", "protected_path"],
  ["dir/../.git/config", "outside_workspace"],
  ["gitlink/config", "protected_path"],
  ["hardconfig", "protected_path"],
  [".fluzo", "protected_path"],
  [".Fluzo", "protected_path"],
  ["configlink", "protected_path"],
  ["hardfluzo", "protected_path"],
  [".fluzodrive/state", "protected_path"],
  ["sub/.git/config", "protected_path"],
  ["fifo", "special_file"],
  ["dir", "is_directory"],
  ["plain.txt/x", "not_directory"],
  ["nothing", "not_found"],
  ["", "invalid_name"],
  ["a\0b", "invalid_name"],
];

Deno.test(`reading refuses each of ${READS.length} ways out, with its reason`, async () => {
  using outside = new TestFolder();
  await using workspace = await TestWorkspace.open();
  layTraps(workspace.folder, outside);
  for (const [path, reason] of READS) {
    const reply = await workspace.worker.call({
      type: "read",
      path,
      firstLine: 1,
      maxLines: 10,
      maxBytes: 1000,
    });
    assert.ok(!reply.ok, `"${path}" was read`);
    assert.equal(reply.error.reason, reason, path);
  }
});

Deno.test("reading refuses links the kernel makes", async () => {
  using outside = new TestFolder();
  await using workspace = await TestWorkspace.open();
  layTraps(workspace.folder, outside);
  for (const path of ["magic/etc/passwd", "magic2"]) {
    const reply = await workspace.worker.call({
      type: "read",
      path,
      firstLine: 1,
      maxLines: 10,
      maxBytes: 1000,
    });
    assert.ok(!reply.ok, `"${path}" was read`);
    assert.ok(["magic_link", "outside_workspace"].includes(reply.error.reason), reply.error.reason);
  }
});

Deno.test("reading follows a link that stays inside", async () => {
  using outside = new TestFolder();
  await using workspace = await TestWorkspace.open();
  layTraps(workspace.folder, outside);
  assert.equal((await workspace.read("inner")).text, "inside");
  assert.equal((await workspace.read("innerdir/deep.txt")).text, "deep");
});

const CREATES: readonly (readonly [path: string, reason: WorkspaceReason])[] = [
  ["../new", "outside_workspace"],
  ["/tmp/fluzo-new", "outside_workspace"],
  ["out/new", "outside_workspace"],
  ["dangling", "exists"],
  ["innerdir/new", "through_link"],
  [".git/hooks/pre-commit", "protected_path"],
  [".GIT/hooks/x", "protected_path"],
  ["gitlink/hooks/x", "protected_path"],
  [".fluzodrive/x", "protected_path"],
  ["sub/.git/hooks/x", "protected_path"],
  ["plain.txt", "exists"],
  ["plain.txt/x", "not_directory"],
  ["dir", "exists"],
];

Deno.test(`creating refuses each of ${CREATES.length} ways out and writes nothing`, async () => {
  using outside = new TestFolder();
  await using workspace = await TestWorkspace.open();
  layTraps(workspace.folder, outside);
  const before = [...Deno.readDirSync(outside.path)].length;
  for (const [path, reason] of CREATES) {
    const reply = await workspace.worker.call({
      type: "plan",
      operationId: "op_00000000000000000000000001" as never,
      change: { type: "create", path, content: "x" },
    });
    assert.ok(!reply.ok, `"${path}" was planned`);
    const reasons = [reason, "outside_workspace", "through_link"];
    assert.ok(reasons.includes(reply.error.reason), `${path}: ${reply.error.reason}`);
  }
  assert.equal([...Deno.readDirSync(outside.path)].length, before);
  assert.equal(workspace.folder.exists(".git/hooks/x"), false);
});

Deno.test("changing through a link names the real path and leaves the link a link", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("real.txt", "a\n");
  Deno.symlinkSync("real.txt", `${workspace.folder.path}/link.txt`);
  const expected = await workspace.digest("real.txt");
  const detail = await workspace.planRefused({
    type: "edit",
    path: "link.txt",
    expected,
    replacements: [{ oldText: "a", newText: "b", all: false }],
  }, "through_link");
  assert.match(detail, /real\.txt/);
  assert.equal(Deno.lstatSync(`${workspace.folder.path}/link.txt`).isSymlink, true);
});

Deno.test("changing refuses a file with several names", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("a", "1\n");
  Deno.linkSync(`${workspace.folder.path}/a`, `${workspace.folder.path}/b`);
  const expected = await workspace.digest("a");
  await workspace.planRefused({
    type: "edit",
    path: "a",
    expected,
    replacements: [{ oldText: "1", newText: "2", all: false }],
  }, "multiply_linked");
});

Deno.test("protected paths outside are refused through aliases inside", async () => {
  using outside = new TestFolder();
  outside.write("auth.toml", "token\n");
  await using workspace = await TestWorkspace.open([`${outside.path}/auth.toml`]);
  Deno.linkSync(`${outside.path}/auth.toml`, `${workspace.folder.path}/notes.txt`);
  await workspace.refused({
    type: "read",
    path: "notes.txt",
    firstLine: 1,
    maxLines: 1,
    maxBytes: 100,
  }, "protected_path");
});

/** Swaps a folder, and a file in another, for links that leave; runs until it is ended. */
const SWAPPER = `
  const [outside] = Deno.args;
  // The worker may make a folder or file where a name is free: steps fail, the loop goes on.
  const attempt = (step) => { try { step(); } catch { return; } };
  console.log("ready");
  for (;;) {
    attempt(() => Deno.renameSync("d", "e"));
    attempt(() => Deno.symlinkSync(outside, "d"));
    attempt(() => Deno.removeSync("d"));
    attempt(() => Deno.renameSync("e", "d"));
    attempt(() => Deno.removeSync("e", { recursive: true }));
    attempt(() => Deno.renameSync("s/f.txt", "s/g.txt"));
    attempt(() => Deno.symlinkSync(outside + "/f.txt", "s/f.txt"));
    attempt(() => Deno.removeSync("s/f.txt"));
    attempt(() => Deno.renameSync("s/g.txt", "s/f.txt"));
  }
`;
/** Enough for each call to meet the swapper in each of its states. */
const SWAP_ROUNDS = 250;

Deno.test("what is swapped for a link in a loop never lets anything out", async () => {
  using outside = new TestFolder();
  outside.write("f.txt", "outside\n");
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("d/f.txt", "inside 0\n");
  workspace.folder.write("s/f.txt", "inside 0\n");
  const swapper = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-config", "--allow-all", "-", outside.path],
    cwd: workspace.folder.path,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const source = swapper.stdin.getWriter();
  await source.write(new TextEncoder().encode(SWAPPER));
  await source.close();
  const said = swapper.stdout.getReader();
  await said.read();

  const ids = countingIds();
  const count = { done: 0, refused: 0 };
  const attempt = async (change: FileChange): Promise<void> => {
    const operationId = ids.next("operation");
    const planned = await workspace.worker.call({ type: "plan", operationId, change });
    const applied = planned.ok && (await workspace.worker.call({ type: "apply", operationId })).ok;
    count[applied ? "done" : "refused"]++;
  };
  for (let round = 1; round <= SWAP_ROUNDS; round++) {
    await attempt({ type: "create", path: `d/n${round}`, content: "x" });
    for (const path of ["d/f.txt", "s/f.txt"]) {
      const part = { path, firstLine: 1, maxLines: 10, maxBytes: 1000 };
      const reply = await workspace.worker.call({ type: "read", ...part });
      count[reply.ok ? "done" : "refused"]++;
      if (!reply.ok) continue;
      assert.match(reply.value.text, /^inside/);
      const { version: { digest: expected } } = reply.value;
      await attempt({ type: "rewrite", path, expected, content: `inside ${round}\n` });
    }
  }
  swapper.kill("SIGKILL");
  await swapper.status;
  await said.cancel();

  assert.ok(count.done > 20 && count.refused > 20, JSON.stringify(count));
  assert.deepEqual([...Deno.readDirSync(outside.path)].map(({ name }) => name), ["f.txt"]);
  assert.equal(outside.read("f.txt"), "outside\n");
});

Deno.test("the worker has no permission but FFI on libc, and its tools work all the same", async () => {
  await using workspace = await TestWorkspace.open();
  workspace.folder.write("a", "1\n");
  assert.equal((await workspace.read("a")).text, "1");
  const probe = new URL("../../support/workspace_probe_worker.ts", import.meta.url);
  const worker = new Worker(probe, {
    type: "module",
    deno: {
      permissions: {
        ffi: ["/lib/x86_64-linux-gnu/libc.so.6"],
        read: false,
        write: false,
        net: false,
        env: false,
        run: false,
        sys: false,
      },
    },
  });
  const answer = await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
  });
  worker.terminate();
  assert.equal(answer, "denied");
});

Deno.test("a worker that dies answers what is pending and what comes after", async () => {
  const workspace = await TestWorkspace.open();
  workspace.folder.write("a", "1\n");
  const pending = workspace.worker.call({
    type: "read",
    path: "a",
    firstLine: 1,
    maxLines: 1,
    maxBytes: 10,
  });
  workspace.worker.close();
  for (
    const reply of [await pending, await workspace.worker.call({ type: "versions", paths: [] })]
  ) {
    assert.ok(!reply.ok);
    assert.equal(reply.error.reason, "worker_lost");
  }
  await workspace[Symbol.asyncDispose]();
});
