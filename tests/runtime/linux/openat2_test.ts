import assert from "node:assert/strict";
import { LinuxError } from "../../../src/runtime/linux/errno.ts";
import { O_DIRECTORY, O_PATH, O_RDONLY } from "../../../src/runtime/linux/open_flags.ts";
import {
  AT_FDCWD,
  openat2,
  RESOLVE_BENEATH,
  RESOLVE_NO_MAGICLINKS,
  RESOLVE_NO_SYMLINKS,
} from "../../../src/runtime/linux/openat2.ts";
import { statFd } from "../../../src/runtime/linux/statx.ts";

const INSIDE = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof LinuxError) return error.code;
    throw error;
  }
  return "opened";
}

Deno.test("openat2() opens beneath a directory and refuses every way out", async () => {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/sub`);
    await Deno.writeTextFile(`${root}/sub/a.txt`, "a");
    await Deno.symlink("sub/a.txt", `${root}/inside`);
    await Deno.symlink("/etc/passwd", `${root}/outside`);
    using fd = openat2(AT_FDCWD, root, { flags: O_PATH | O_DIRECTORY, resolve: 0 });
    const attempt = (path: string, resolve: number) =>
      codeOf(() => openat2(fd, path, { flags: O_RDONLY, resolve }).close());

    assert.equal(attempt("sub/a.txt", INSIDE), "opened");
    assert.equal(attempt("inside", INSIDE), "opened");
    assert.equal(attempt("inside", INSIDE | RESOLVE_NO_SYMLINKS), "ELOOP");
    assert.equal(attempt("outside", INSIDE), "EXDEV");
    assert.equal(attempt("../x", INSIDE), "EXDEV");
    assert.equal(attempt("/etc/passwd", INSIDE), "EXDEV");
    assert.equal(attempt("missing", INSIDE), "ENOENT");
    assert.equal(attempt("sub/a.txt/x", INSIDE), "ENOTDIR");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("openat2() refuses a link the kernel makes", () => {
  using proc = openat2(AT_FDCWD, "/proc/self", { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  assert.equal(
    codeOf(() => openat2(proc, "root/etc", { flags: O_PATH, resolve: RESOLVE_NO_MAGICLINKS })),
    "ELOOP",
  );
  // Without the flag the same path opens, so it is the flag that refuses.
  openat2(proc, "root/etc", { flags: O_PATH, resolve: 0 }).close();
});

Deno.test("openat2() reports a flag the kernel does not know as EINVAL", () => {
  assert.equal(
    codeOf(() => openat2(AT_FDCWD, "/", { flags: O_PATH, resolve: 0x4000_0000 })),
    "EINVAL",
  );
});

Deno.test("openat2() refuses a name with a NUL instead of cutting it", () => {
  assert.throws(
    () => openat2(AT_FDCWD, "/etc\0/x", { flags: O_PATH, resolve: 0 }),
    /NUL/,
  );
});

Deno.test("openat2() closes its descriptors on exec", async () => {
  using fd = openat2(AT_FDCWD, "/", { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  const child = await new Deno.Command("/bin/sh", {
    args: ["-c", 'test ! -e "/proc/$$/fd/$1"', "sh", String(fd.number)],
    clearEnv: true,
  }).output();
  assert.equal(child.code, 0);
});

Deno.test("OwnedFd refuses use after close and closes once", () => {
  const fd = openat2(AT_FDCWD, "/", { flags: O_PATH | O_DIRECTORY, resolve: 0 });
  assert.equal(statFd(fd).kind, "directory");
  fd.close();
  fd.close();
  assert.throws(() => statFd(fd), /closed/);
});
