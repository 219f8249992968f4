import assert from "node:assert/strict";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { calls, says } from "../support/simulated.ts";
import { TestFluzo } from "../support/fluzo.ts";
import { SmallDisk } from "../support/small_disk.ts";
import { reportLine } from "../support/report_line.ts";

const ignore = !SmallDisk.isAvailable();
if (ignore) reportLine("full disk: not_run: this machine allows no user namespaces with a tmpfs");

/** Root passes every permission bit; without these two it does not. */
const WITHOUT_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];

const MIB = 1024 * 1024;

/** A workspace on a disk of its own, set up and agreed to. */
async function onSmallDisk(
  fluzo: TestFluzo,
  { baseUrl, mebibytes, minFree }: {
    readonly baseUrl: string;
    readonly mebibytes: number;
    readonly minFree: number;
  },
): Promise<SmallDisk> {
  fluzo.repository.commit({ "a.txt": "1\n" });
  const storage = `\n[storage]\nmin_free_bytes = ${minFree * MIB}\n`;
  await fluzo.must("init", "--base-url", baseUrl, "--model", "scripted", "--yes");
  fluzo.repository.write(".fluzo", fluzo.repository.read(".fluzo") + storage);
  const disk = await SmallDisk.over(fluzo.repository.path, { mebibytes });
  fluzo.launcher = disk.launcher;
  await fluzo.must("consent", "grant");
  return disk;
}

/** Leaves so many KiB of the disk free. */
const FILL = (kibibytes: number) =>
  `free=$(df -k . | awk 'NR == 2 { print $4 }'); head -c $(( (free - ${kibibytes}) * 1024 )) ` +
  "/dev/zero > fill";

const tasksOf = async (fluzo: TestFluzo) =>
  JSON.parse((await fluzo.must("task", "list", "--output", "json")).stdout).tasks;

Deno.test({
  name: "no task begins or goes on below the free space that has to stay",
  ignore,
  fn: async () => {
    using fluzo = new TestFluzo();
    await using simulator = startSimulator([
      calls("run", { command: ["touch", "x"] }),
      says("Done."),
    ]);
    const { baseUrl } = simulator;
    await using disk = await onSmallDisk(fluzo, { baseUrl, mebibytes: 64, minFree: 8 });
    assert.equal((await fluzo.run("run", "touch x")).code, 10);
    const [{ id }] = await tasksOf(fluzo);
    await disk.must(FILL(4 * 1024));
    for (const words of [["run", "again"], ["session", "resume", id]]) {
      const refused = await fluzo.run(...words);
      assert.equal(refused.code, 35, refused.stderr);
      assert.match(refused.stderr, /too little space: \d+ bytes of tmpfs at .* have to stay free/);
      assert.match(refused.stderr, /storage\.min_free_bytes/);
    }
    assert.equal((await tasksOf(fluzo)).length, 1);
    await disk.must("rm fill");
    await fluzo.must("session", "resume", id, "--allow-exec", "touch x");
    simulator.verify();
  },
});

Deno.test({
  name: "a task at work stops before what could not be recorded, and goes on later",
  ignore,
  fn: async () => {
    using fluzo = new TestFluzo();
    const fill = FILL(12 * 1024);
    await using simulator = startSimulator([
      calls("shell", { script: fill }),
      calls("write", { path: "b.txt", content: "2\n" }),
      says("Done."),
    ]);
    const { baseUrl } = simulator;
    await using disk = await onSmallDisk(fluzo, { baseUrl, mebibytes: 96, minFree: 40 });
    const stopped = await fluzo.run("run", "fill it", "--allow-shell", fill);
    assert.equal(stopped.code, 35, stopped.stderr);
    assert.match(stopped.stderr, /too little space/);
    const [{ id, state, reason }] = await tasksOf(fluzo);
    assert.deepEqual([state, reason], ["blocked", "storage_failed"]);
    await disk.must("rm fill");
    await fluzo.must("session", "resume", id);
    assert.equal(await disk.must("cat b.txt"), "2\n");
    simulator.verify();
  },
});

Deno.test({
  name: "a disk that is full to the last byte loses nothing that was acknowledged",
  ignore,
  fn: async () => {
    using fluzo = new TestFluzo();
    const fill = "head -c 1000000000 /dev/zero > fill; true";
    await using simulator = startSimulator([
      calls("shell", { script: fill }),
      says("Done after all."),
    ]);
    const { baseUrl } = simulator;
    await using disk = await onSmallDisk(fluzo, { baseUrl, mebibytes: 64, minFree: 1 });
    const stopped = await fluzo.run("run", "fill it all", "--allow-shell", fill);
    assert.equal(stopped.code, 35, stopped.stderr);
    assert.match(stopped.stderr, /is full|too little space/);
    // Looking works also while nothing can be written.
    const [{ id, goal }] = await tasksOf(fluzo);
    assert.equal(goal, "fill it all");
    await disk.must("rm fill");
    const doctor = await fluzo.run("doctor");
    assert.match(doctor.stdout, /journal: whole/);
    // The next owner says what it does not know, and repeats nothing.
    const refused = await fluzo.run("session", "resume", id);
    assert.equal(refused.code, 33, refused.stderr);
    const unknown = /--accept-unknown|(op_\w+)/.exec(refused.stderr)?.[0] ?? "";
    assert.match(unknown, /^op_/);
    await fluzo.must("session", "resume", id, "--accept-unknown", unknown);
    await disk.must("test ! -e fill");
    simulator.verify();
  },
});

Deno.test({
  name: "a read-only workspace can be looked at, and a task is refused with the reason",
  ignore,
  fn: async () => {
    using fluzo = new TestFluzo();
    await using simulator = startSimulator([says("Done.")]);
    const { baseUrl } = simulator;
    await using disk = await onSmallDisk(fluzo, { baseUrl, mebibytes: 64, minFree: 1 });
    await fluzo.must("run", "say done");
    await disk.must("mount -o remount,ro .");
    const [{ goal }] = await tasksOf(fluzo);
    assert.equal(goal, "say done");
    const refused = await fluzo.run("run", "again");
    assert.equal(refused.code, 35, refused.stderr);
    assert.match(refused.stderr, /Read-only file system/i);
    simulator.verify();
  },
});

Deno.test({
  name: "a data directory whose permissions were lost is met with what to do",
  ignore: !canDropPrivileges(),
  fn: async () => {
    using fluzo = new TestFluzo();
    await using simulator = startSimulator([says("Done."), says("Done again.")]);
    fluzo.repository.commit({ "a.txt": "1\n" });
    await fluzo.setUp(simulator.baseUrl);
    await fluzo.must("run", "say done");
    if (Deno.uid() === 0) fluzo.launcher = WITHOUT_OVERRIDE;
    const directory = `${fluzo.repository.path}/.fluzodrive`;
    Deno.chmodSync(`${directory}/state.sqlite3`, 0o000);
    for (const words of [["run", "again"], ["task", "list"]]) {
      const refused = await fluzo.run(...words);
      assert.equal(refused.code, 35, refused.stderr);
      assert.match(refused.stderr, /must be readable and writable by the user who runs Fluzo/);
    }
    Deno.chmodSync(`${directory}/state.sqlite3`, 0o644);
    const shared = await fluzo.run("run", "again");
    assert.equal(shared.code, 35);
    assert.match(shared.stderr, /run chmod 600/);
    Deno.chmodSync(`${directory}/state.sqlite3`, 0o600);
    await fluzo.must("run", "again");
    assert.equal((await tasksOf(fluzo)).length, 2);
    simulator.verify();
  },
});

function canDropPrivileges(): boolean {
  if (Deno.uid() !== 0) return true;
  try {
    const [program = "", ...words] = [...WITHOUT_OVERRIDE, "true"];
    return new Deno.Command(program, { args: words }).outputSync().success;
  } catch (failure) {
    if (failure instanceof Deno.errors.NotFound) return false;
    throw failure;
  }
}
