import assert from "node:assert/strict";
import { LinuxError } from "../../../src/runtime/linux/errno.ts";
import { readSome, writeAll } from "../../../src/runtime/linux/files.ts";
import {
  acceptUnix,
  connectUnix,
  listenUnix,
  peerCredentials,
} from "../../../src/runtime/linux/unix_socket.ts";

Deno.test("peerCredentials() names this process on a connection to itself", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/control`;
  try {
    using listener = listenUnix(path, 4);
    assert.equal(acceptUnix(listener), null);
    using client = connectUnix(path);
    using server = acceptUnix(listener);
    assert.ok(server);
    const expected = { pid: Deno.pid, uid: Deno.uid(), gid: Deno.gid() };
    assert.deepEqual(peerCredentials(server), expected);
    assert.deepEqual(peerCredentials(client), expected);
    writeAll(client, new Uint8Array([1, 2, 3]));
    const into = new Uint8Array(8);
    assert.equal(readSome(server, into), 3);
    assert.deepEqual(into.subarray(0, 3), new Uint8Array([1, 2, 3]));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("peerCredentials() names another process, not this one", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/control`;
  try {
    using listener = listenUnix(path, 4);
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        `const c = await Deno.connect({ transport: "unix", path: ${JSON.stringify(path)} });
         console.log("connected");
         await c.read(new Uint8Array(1));`,
      ],
      clearEnv: true,
      env: { DENO_NO_UPDATE_CHECK: "1", HOME: folder },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    // Its word arrives only once it is connected.
    const said = child.stdout.getReader();
    await said.read();
    const server = acceptUnix(listener);
    assert.ok(server);
    using connection = server;
    assert.equal(peerCredentials(connection).pid, child.pid);
    writeAll(connection, new Uint8Array([1]));
    while (!(await said.read()).done);
    await child.status;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("listenUnix() refuses a path that exists or does not fit", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/taken`, "");
    assert.throws(
      () => listenUnix(`${folder}/taken`, 1),
      (error: unknown) => error instanceof LinuxError && error.code === "EADDRINUSE",
    );
    assert.throws(() => listenUnix(`${folder}/${"x".repeat(120)}`, 1), RangeError);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
