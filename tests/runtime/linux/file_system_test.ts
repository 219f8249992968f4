import assert from "node:assert/strict";
import { fileSystemOf, findMount, isNetworkType } from "../../../src/runtime/linux/file_system.ts";
import { LinuxError } from "../../../src/runtime/linux/errno.ts";

const MOUNTS = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 27 0:30 / /home rw - nfs4 server:/home rw
31 27 0:31 / /home/with\\040space rw master:1 propagate_from:2 - fuse.sshfs other rw
32 27 0:32 / /home/twice rw - tmpfs a rw
33 27 0:33 / /home/twice rw - xfs b rw
`;

Deno.test("findMount() takes the longest mount point above a path, and the last of equal ones", () => {
  const cases = [
    ["/", { type: "ext4", mountPoint: "/" }],
    ["/homes/x", { type: "ext4", mountPoint: "/" }],
    ["/home", { type: "nfs4", mountPoint: "/home" }],
    ["/home/x", { type: "nfs4", mountPoint: "/home" }],
    ["/home/with space/deep", { type: "fuse.sshfs", mountPoint: "/home/with space" }],
    ["/home/twice", { type: "xfs", mountPoint: "/home/twice" }],
  ] as const;
  for (const [path, expected] of cases) assert.deepEqual(findMount(MOUNTS, path), expected, path);
  assert.equal(findMount("", "/"), null);
  assert.equal(findMount("half a line", "/"), null);
});

Deno.test("fileSystemOf() agrees with df", async () => {
  const path = Deno.makeTempDirSync();
  try {
    const found = fileSystemOf(path);
    const { stdout } = await new Deno.Command("df", {
      args: ["-B1", "--output=fstype,size,avail,target", path],
    }).output();
    const [type, size, available, target] = new TextDecoder().decode(stdout).trim().split("\n")[1]
      ?.trim().split(/\s+/) ?? [];
    assert.equal(found.type, type);
    assert.equal(found.mountPoint, target);
    assert.equal(found.totalBytes, Number(size));
    // Others write meanwhile.
    assert.ok(Math.abs(found.availableBytes - Number(available)) < 1 << 30);
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("fileSystemOf() says which call could not look at an absent path", () => {
  assert.throws(
    () => fileSystemOf("/absent/path"),
    (error) => error instanceof LinuxError && error.call === "statfs" && error.code === "ENOENT",
  );
});

Deno.test("isNetworkType() knows file systems that are somewhere else", () => {
  for (const type of ["nfs4", "cifs", "9p", "fuse.sshfs"]) assert.ok(isNetworkType(type), type);
  for (const type of ["ext4", "btrfs", "xfs", "tmpfs", "overlay"]) {
    assert.ok(!isNetworkType(type), type);
  }
});
