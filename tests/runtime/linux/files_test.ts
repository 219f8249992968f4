import assert from "node:assert/strict";
import { directoryEntries } from "../../../src/runtime/linux/directory_entries.ts";
import { LinuxError } from "../../../src/runtime/linux/errno.ts";
import {
  exchange,
  makeDirectoryAt,
  readAt,
  readLinkAt,
  readSome,
  removeDirectoryAt,
  renameNoReplace,
  setMode,
  setOwner,
  syncFd,
  unlinkAt,
  writeAll,
} from "../../../src/runtime/linux/files.ts";
import {
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_RDONLY,
  O_WRONLY,
} from "../../../src/runtime/linux/open_flags.ts";
import { AT_FDCWD, openat2 } from "../../../src/runtime/linux/openat2.ts";
import type { OwnedFd } from "../../../src/runtime/linux/owned_fd.ts";
import { type FileStat, sameFile, statAt, statFd } from "../../../src/runtime/linux/statx.ts";

function describe(directory: OwnedFd, name: string, options = {}): FileStat {
  const stat = statAt(directory, name, options);
  assert.ok(stat, `"${name}" is missing`);
  return stat;
}

async function inFolder(work: (root: string, fd: OwnedFd) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    using fd = openat2(AT_FDCWD, root, { flags: O_RDONLY | O_DIRECTORY, resolve: 0 });
    await work(root, fd);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("writeAll() and readSome() carry bytes as they are", () =>
  inFolder(async (root, directory) => {
    const bytes = new Uint8Array(100_000).map((_, i) => i * 7);
    {
      using fd = openat2(directory, "new", {
        flags: O_WRONLY | O_CREAT | O_EXCL,
        mode: 0o600,
        resolve: 0,
      });
      writeAll(fd, bytes);
      setMode(fd, 0o640);
      const { uid, gid } = statFd(fd);
      setOwner(fd, { uid, gid });
      syncFd(fd);
    }
    syncFd(directory);
    assert.deepEqual(await Deno.readFile(`${root}/new`), bytes);
    assert.equal(((await Deno.stat(`${root}/new`)).mode ?? 0) & 0o7777, 0o640);

    using again = openat2(directory, "new", { flags: O_RDONLY, resolve: 0 });
    const part = new Uint8Array(10);
    assert.equal(readAt(again, part, { offsetBytes: 99_995 }), 5);
    assert.deepEqual(part.subarray(0, 5), bytes.subarray(99_995));
    assert.equal(readSome(again, part), 10);
    assert.deepEqual(part, bytes.subarray(0, 10));
  }));

Deno.test("statAt() agrees with Deno on kind, size, mode, links and identity", () =>
  inFolder(async (root, directory) => {
    await Deno.writeTextFile(`${root}/a`, "hello", { mode: 0o755 });
    await Deno.link(`${root}/a`, `${root}/b`);
    await Deno.symlink("a", `${root}/l`);
    const stat = describe(directory, "a");
    const info = await Deno.stat(`${root}/a`);
    assert.deepEqual(
      { kind: stat.kind, size: stat.sizeBytes, mode: stat.mode, links: stat.links, uid: stat.uid },
      { kind: "file", size: 5, mode: (info.mode ?? 0) & 0o7777, links: 2, uid: info.uid },
    );
    assert.equal(stat.inode, BigInt(info.ino ?? 0));
    if (info.birthtime !== null) {
      assert.equal(Number(stat.birthTimeNs / 1_000_000n), info.birthtime.getTime());
    }
    assert.equal(sameFile(stat, describe(directory, "b")), true);
    assert.equal(describe(directory, "l").kind, "link");
    assert.equal(sameFile(stat, describe(directory, "l", { follow: true })), true);
    assert.equal(statAt(directory, "missing"), null);
    assert.equal(statAt(directory, "a/below"), null);
    assert.deepEqual(readLinkAt(directory, "l"), new TextEncoder().encode("a"));
  }));

Deno.test("renameNoReplace() refuses a name that is taken, exchange() swaps", () =>
  inFolder(async (root, directory) => {
    await Deno.writeTextFile(`${root}/a`, "A");
    await Deno.writeTextFile(`${root}/b`, "B");
    const a = { directory, name: "a" };
    const b = { directory, name: "b" };
    assert.throws(
      () => renameNoReplace(a, b),
      (error: unknown) => error instanceof LinuxError && error.code === "EEXIST",
    );
    exchange(a, b);
    assert.equal(await Deno.readTextFile(`${root}/a`), "B");
    assert.equal(await Deno.readTextFile(`${root}/b`), "A");
    renameNoReplace(a, { directory, name: "c" });
    assert.equal(await Deno.readTextFile(`${root}/c`), "B");
  }));

Deno.test("directoryEntries() lists every name as bytes, over several batches", () =>
  inFolder(async (root, directory) => {
    const expected: string[] = [];
    for (let i = 0; i < 1500; i++) {
      const name = `${"n".repeat(60)}-${i}`;
      expected.push(name);
      await Deno.writeTextFile(`${root}/${name}`, "");
    }
    makeDirectoryAt({ directory, name: "folder" }, 0o755);
    expected.push("folder");
    const names = new Map<string, string | null>();
    for (const entry of directoryEntries(directory)) {
      names.set(new TextDecoder().decode(entry.name), entry.kind);
    }
    assert.deepEqual([...names.keys()].sort(), expected.sort());
    assert.equal(names.get("folder"), "directory");
    removeDirectoryAt({ directory, name: "folder" });
    unlinkAt({ directory, name: expected[3] ?? "" });
    await assert.rejects(Deno.lstat(`${root}/folder`), Deno.errors.NotFound);
    await assert.rejects(Deno.lstat(`${root}/${expected[3]}`), Deno.errors.NotFound);
  }));
