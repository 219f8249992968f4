import assert from "node:assert/strict";
import type { FileChange } from "../../../src/runtime/workspace/protocol.ts";
import { countingIds } from "../../support/ids.ts";
import { TestFolder } from "../../support/repository.ts";
import { TestWorkspace } from "../../support/workspace.ts";

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
