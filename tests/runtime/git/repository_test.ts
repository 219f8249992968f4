import assert from "node:assert/strict";
import { addExclude } from "../../../src/runtime/git/exclude.ts";
import { Git } from "../../../src/runtime/git/git_command.ts";
import {
  listFiles,
  readCommit,
  readCommitted,
  readDiff,
  readLog,
  readStatus,
  readTracking,
} from "../../../src/runtime/git/repository.ts";
import { resolveExecutable } from "../../../src/runtime/processes/resolve_executable.ts";
import { systemClock, systemTimers } from "../../../src/runtime/system_clock.ts";
import { TestFolder } from "../../support/repository.ts";

async function gitFor(folder: TestFolder): Promise<Git> {
  const path = Deno.env.get("PATH") ?? "";
  const found = await resolveExecutable("git", { path, cwd: folder.path });
  assert.ok(found.ok);
  return new Git({
    executable: found.value,
    root: folder.path,
    path,
    home: folder.path,
    timers: systemTimers,
    clock: systemClock,
  });
}

Deno.test("readStatus() tells a folder, an unborn repository and one with commits apart", async () => {
  using folder = new TestFolder();
  const git = await gitFor(folder);
  assert.deepEqual(await readStatus(null, "folders"), { ok: true, value: { git: "none" } });
  assert.deepEqual(await readStatus(git, "folders"), { ok: true, value: { git: "none" } });
  folder.git("init", "-q", "-b", "main");
  folder.write("a", "1");
  const unborn = await readStatus(git, "folders");
  assert.ok(unborn.ok && unborn.value.git === "unborn");
  assert.equal(unborn.value.head, null);
  assert.equal(unborn.value.branch, "main");
  assert.deepEqual(unborn.value.entries.map(({ path, change }) => [path, change]), [
    ["a", "untracked"],
  ]);
  folder.git("add", "a");
  folder.git("commit", "-q", "-m", "first");
  folder.git("checkout", "-q", "--detach");
  const detached = await readStatus(git, "folders");
  assert.ok(detached.ok && detached.value.git === "commits");
  assert.match(detached.value.head ?? "", /^[0-9a-f]{40}$/);
  assert.equal(detached.value.branch, null);
});

Deno.test("readStatus() names each kind of change, with the names as they are", async () => {
  using folder = new TestFolder();
  folder.commit({ "kept": "1", "edited": "1", "gone": "1", "moved": "long enough content\n" });
  const git = await gitFor(folder);
  folder.write("edited", "2");
  Deno.removeSync(`${folder.path}/gone`);
  folder.git("mv", "moved", "new name");
  folder.write("staged", "1");
  folder.git("add", "staged");
  folder.write("-rf", "1");
  folder.write('line\nbreak "quoted"', "1");
  folder.write("dir/inside", "1");
  const status = await readStatus(git, "folders");
  assert.ok(status.ok && status.value.git === "commits");
  const seen = status.value.entries.map(({ path, change, deleted }) =>
    `${change} ${path}${deleted ? " deleted" : ""}`
  ).sort();
  assert.deepEqual(
    seen,
    [
      "modified edited",
      "modified gone deleted",
      "staged moved deleted",
      "staged new name",
      "staged staged",
      "untracked -rf",
      "untracked dir/",
      'untracked line\nbreak "quoted"',
    ].sort(),
  );
  const files = await readStatus(git, "files");
  assert.ok(files.ok && files.value.git === "commits");
  assert.ok(files.value.entries.some(({ path }) => path === "dir/inside"));
});

Deno.test("readStatus() flags a name that is not UTF-8 and never mistakes it for another", async () => {
  using folder = new TestFolder();
  folder.commit({ a: "1" });
  const script = 'printf x > "$(printf "bad\\377name")"';
  new Deno.Command("/bin/sh", { args: ["-c", script], cwd: folder.path }).outputSync();
  const status = await readStatus(await gitFor(folder), "folders");
  assert.ok(status.ok && status.value.git === "commits");
  assert.deepEqual(status.value.entries.map(({ path, utf8 }) => [path, utf8]), [
    ["bad\\xffname", false],
  ]);
});

Deno.test("Git runs nothing that the repository's configuration names", async () => {
  using folder = new TestFolder();
  folder.commit({
    "a.txt": "1\n",
    "b.bin": "1\n",
    ".gitattributes": "*.txt filter=evil diff=evil\n*.bin filter=evil2 diff=evil2\n",
  });
  const mark = (name: string) => `touch '${folder.path}/PWNED-${name}'; cat`;
  for (
    const [key, value] of Object.entries({
      "core.fsmonitor": `${folder.path}/monitor`,
      "diff.external": mark("external"),
      "diff.evil.textconv": mark("textconv"),
      "diff.evil.command": mark("command"),
      "diff.evil2.textconv": mark("textconv2"),
      "filter.evil.clean": mark("clean"),
      "filter.evil.smudge": mark("smudge"),
      "filter.evil2.process": mark("process"),
      "filter.evil2.required": "true",
      "core.pager": mark("pager"),
      "pager.log": mark("pager2"),
      "pager.diff": mark("pager3"),
      "alias.status": `!${mark("alias")}`,
      "core.hooksPath": `${folder.path}/hooks`,
      "gpg.program": `${folder.path}/monitor`,
      "log.showSignature": "true",
    })
  ) folder.git("config", key, value);
  folder.write("monitor", `#!/bin/sh\ntouch '${folder.path}/PWNED-monitor'\n`);
  folder.write("hooks/post-index-change", `#!/bin/sh\ntouch '${folder.path}/PWNED-hook'\n`);
  for (const name of ["monitor", "hooks/post-index-change"]) {
    Deno.chmodSync(`${folder.path}/${name}`, 0o755);
  }
  folder.write("a.txt", "2\n");
  folder.write("b.bin", "2\n");
  const git = await gitFor(folder);
  const status = await readStatus(git, "folders");
  assert.ok(status.ok, JSON.stringify(status));
  const diff = await readDiff(git, null);
  assert.ok(diff.ok && diff.value.includes("+2"), JSON.stringify(diff));
  assert.ok((await readLog(git, { path: null, count: 5 })).ok);
  assert.ok((await readCommit(git, "HEAD")).ok);
  assert.ok(await listFiles(git));
  assert.deepEqual(await readCommitted(git, "a.txt"), new TextEncoder().encode("1\n"));
  await readTracking(git, { path: ".fluzodrive", filled: false });
  const marks = [...Deno.readDirSync(folder.path)].map(({ name }) => name)
    .filter((name) => name.startsWith("PWNED"));
  assert.deepEqual(marks, []);
});

Deno.test("readTracking() sees what is tracked and what is ignored", async () => {
  using folder = new TestFolder();
  folder.commit({ a: "1" });
  const git = await gitFor(folder);
  const state = async () => {
    const read = await readTracking(git, { path: ".fluzodrive", filled: false });
    assert.ok(read.ok);
    return read.value;
  };
  assert.deepEqual(await state(), { tracked: false, ignored: false });
  assert.deepEqual(await addExclude(git, "/.fluzodrive/"), { ok: true, value: true });
  assert.deepEqual(await addExclude(git, "/.fluzodrive/"), { ok: true, value: false });
  assert.deepEqual(await state(), { tracked: false, ignored: true });
  folder.write(".fluzodrive/x", "1");
  folder.git("add", "-f", ".fluzodrive/x");
  assert.deepEqual(await state(), { tracked: true, ignored: true });
  const filled = async (path: string) => await readTracking(git, { path, filled: true });
  assert.deepEqual(await filled(".fluzodrive"), {
    ok: true,
    value: { tracked: true, ignored: true },
  });
  folder.git("rm", "-q", "-r", "--cached", ".fluzodrive");
  assert.deepEqual(await filled(".fluzodrive"), {
    ok: true,
    value: { tracked: false, ignored: true },
  });
  folder.write("open/x", "1");
  assert.deepEqual(await filled("open"), { ok: true, value: { tracked: false, ignored: false } });
  using plain = new TestFolder();
  assert.deepEqual(await readTracking(await gitFor(plain), { path: "x", filled: false }), {
    ok: true,
    value: null,
  });
});

Deno.test("readCommit() takes revisions only", async () => {
  using folder = new TestFolder();
  folder.commit({ a: "1" });
  const git = await gitFor(folder);
  for (const revision of ["--output=x", "-p", "HEAD; touch y", "$(x)", ""]) {
    const shown = await readCommit(git, revision);
    assert.equal(shown.ok, false, revision);
  }
  const shown = await readCommit(git, "HEAD~0");
  assert.ok(shown.ok && shown.value.includes("first"));
});

Deno.test("readDiff() and readLog() answer before the first commit", async () => {
  using folder = new TestFolder();
  folder.git("init", "-q");
  folder.write("a", "1\n");
  folder.git("add", "a");
  const git = await gitFor(folder);
  const diff = await readDiff(git, null);
  assert.ok(diff.ok && diff.value.includes("+1"), JSON.stringify(diff));
  assert.deepEqual(await readLog(git, { path: null, count: 5 }), {
    ok: true,
    value: "There is no commit yet",
  });
});
