import assert from "node:assert/strict";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { permissionFlags } from "../../src/cli/permissions.ts";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { Background } from "../support/background.ts";
import { endlessStream } from "../support/endless_stream.ts";
import { TestFluzo } from "../support/fluzo.ts";
import { says } from "../support/simulated.ts";

interface Report {
  readonly code: number;
  readonly findings: readonly Finding[];
}

async function examine(
  fluzo: TestFluzo,
  permissions: readonly string[] = permissionFlags(),
): Promise<Report> {
  const { code, stdout } = await fluzo.command(["doctor", "--output", "json"], { permissions })
    .output();
  const report = JSON.parse(new TextDecoder().decode(stdout));
  assert.equal(report.type, "doctor");
  return { code, findings: report.findings };
}

function states(report: Report): Readonly<Record<string, Finding["state"]>> {
  return Object.fromEntries(report.findings.map(({ check, state }) => [check, state]));
}

function find(report: Report, check: string): Finding {
  const found = report.findings.find((finding) => finding.check === check);
  assert.ok(found !== undefined, `doctor says nothing of ${check}`);
  return found;
}

/** A repository in which one task has been done. */
async function worked(fluzo: TestFluzo): Promise<void> {
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([says("Done.")]);
  await fluzo.setUp(simulator.baseUrl);
  await fluzo.must("run", "go");
}

/** Every file below a folder, with its content, its mode and the time it was changed. */
function photograph(folder: string): string {
  const lines: string[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    const { mode, mtime, size } = Deno.lstatSync(path);
    lines.push(`${path} ${mode} ${isDirectory ? "" : `${mtime?.getTime()} ${size}`}`);
    if (isDirectory) lines.push(photograph(path));
  }
  return lines.sort().join("\n");
}

Deno.test("doctor finds nothing wrong where all is well, and changes nothing", async () => {
  using fluzo = new TestFluzo();
  await worked(fluzo);
  const before = photograph(fluzo.repository.path);
  const report = await examine(fluzo);
  assert.equal(report.code, 0, JSON.stringify(report.findings));
  assert.equal(photograph(fluzo.repository.path), before);
  assert.deepEqual(states(report), {
    fluzo: "ok",
    kernel: "ok",
    permissions: "ok",
    terminal: "note",
    git: "ok",
    "file system": "ok",
    "data directory": "ok",
    journal: "ok",
    owner: "ok",
    configuration: "ok",
    "models.coder": "ok",
    consent: "ok",
  });
  assert.match(find(report, "kernel").detail, /openat2, renameat2, pidfd_open, subreaper work/);
  const text = await fluzo.run("doctor");
  assert.equal(text.code, 0);
  assert.doesNotMatch(text.stdout, /PROBLEM/);
});

Deno.test("doctor names a page of the journal that is damaged, and leaves it as it is", async () => {
  using fluzo = new TestFluzo();
  await worked(fluzo);
  const path = `${fluzo.repository.path}/.fluzodrive/state.sqlite3`;
  const bytes = Deno.readFileSync(path);
  // Not the first page, which holds the file's own description.
  bytes.fill(0xff, 8192, 12_288);
  Deno.writeFileSync(path, bytes);
  const report = await examine(fluzo);
  assert.equal(report.code, 37);
  const journal = find(report, "journal");
  assert.equal(journal.state, "problem");
  assert.match(journal.detail, /state\.sqlite3/);
  assert.deepEqual(Deno.readFileSync(path), bytes);
});

Deno.test("doctor says who works here", async () => {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using server = endlessStream();
  await fluzo.setUp(server.baseUrl);
  await using owner = new Background(fluzo.command(["run", "go"]));
  await server.flowing;
  const finding = find(await examine(fluzo), "owner");
  assert.equal(finding.state, "note");
  assert.match(
    finding.detail,
    new RegExp(`process ${owner.pid} works here since .* on task task_`),
  );
  owner.kill("SIGKILL");
  await owner.status;
  const after = find(await examine(fluzo), "owner");
  assert.match(after.detail, new RegExp(`nobody .* process ${owner.pid} ended without finishing`));
});

Deno.test("doctor names every missing permission with the command that gives all of them", async () => {
  using fluzo = new TestFluzo();
  await worked(fluzo);
  fluzo.repository.write(
    ".fluzo",
    fluzo.repository.read(".fluzo")
      .replace(/base_url = .*/, 'base_url = "https://models.example:8443/v1"')
      .replace(/auth = .*/, 'auth = "env"\napi_key_env = "EXAMPLE_KEY"'),
  );
  const report = await examine(fluzo);
  const permissions = find(report, "permissions");
  assert.equal(permissions.state, "problem");
  assert.match(permissions.detail, /net to models\.example:8443, env EXAMPLE_KEY/);
  assert.match(permissions.remedy, /--allow-net=\S*,models\.example:8443' .*EXAMPLE_KEY/);
  // With these the rest is about the key itself.
  const installed = permissionFlags({
    hosts: ["models.example:8443"],
    variables: ["EXAMPLE_KEY"],
  });
  const second = await examine(fluzo, installed);
  assert.equal(find(second, "permissions").state, "ok");
  assert.match(find(second, "credentials").detail, /EXAMPLE_KEY is not set/);
});

Deno.test("doctor looks at each permission by itself", async () => {
  using fluzo = new TestFluzo();
  await worked(fluzo);
  const without = (name: string) => permissionFlags().filter((flag) => !flag.startsWith(name));
  const noFfi = await examine(fluzo, without("--allow-ffi"));
  assert.match(find(noFfi, "kernel").detail, /the C library cannot be opened/);
  assert.match(find(noFfi, "permissions").detail, /may not: ffi/);
  const noSys = await examine(fluzo, [...without("--allow-sys"), "--allow-sys=hostname,uid"]);
  assert.equal(find(noSys, "permissions").state, "ok");
  const noNet = await examine(fluzo, without("--allow-net"));
  assert.match(find(noNet, "permissions").detail, /net to localhost/);
  const all = await examine(fluzo, ["--allow-all", "--unstable-worker-options"]);
  const wider = find(all, "permissions");
  assert.equal(wider.state, "note");
  assert.match(wider.detail, /wider than needed: any net, any env, any ffi, any sys/);
});

Deno.test("doctor says that a proxy of the environment is not used, without its value", async () => {
  using fluzo = new TestFluzo({ HTTP_PROXY: "http://user:hidden@127.0.0.1:9" });
  await worked(fluzo);
  const report = await examine(fluzo);
  assert.match(find(report, "proxy").detail, /HTTP_PROXY .*not used/);
  assert.doesNotMatch(JSON.stringify(report), /hidden/);
});
