import assert from "node:assert/strict";
import {
  removeAbandonedSocket,
  socketPaths,
  whyNotPrivate,
} from "../../../src/runtime/control/place.ts";
import type { OwnerRecord } from "../../../src/runtime/workspace/owner_record.ts";
import { newId } from "../../support/ids.ts";
import { TestFolder } from "../../support/repository.ts";

const instanceId = newId("instance");

Deno.test("socketPaths() prefers the runtime folder, then the data directory, then /tmp", () => {
  using folder = new TestFolder();
  const runtimeDirectory = `${folder.path}/run`;
  Deno.mkdirSync(runtimeDirectory, { mode: 0o700 });
  const dataDirectory = `${folder.path}/data`;
  Deno.mkdirSync(dataDirectory, { mode: 0o700 });
  const name = `${instanceId}.sock`;
  const last = `/tmp/fluzo-${Deno.uid()}/${name}`;
  const all = [...socketPaths({ runtimeDirectory, dataDirectory }, instanceId)];
  assert.deepEqual(all, [
    `${runtimeDirectory}/fluzo/${name}`,
    `${dataDirectory}/control/${name}`,
    last,
  ]);
  for (const path of all) {
    const { mode } = Deno.lstatSync(path.slice(0, path.lastIndexOf("/")));
    assert.equal((mode ?? 0) & 0o777, 0o700, path);
  }
  const from = (runtimeDirectory: string | null, data = dataDirectory) => [
    ...socketPaths({ runtimeDirectory, dataDirectory: data }, instanceId),
  ];
  assert.deepEqual(from(null), all.slice(1));
  assert.deepEqual(from("relative"), all.slice(1));
  assert.deepEqual(from(`${folder.path}/none`), all.slice(1));
  Deno.chmodSync(runtimeDirectory, 0o755);
  assert.deepEqual(from(runtimeDirectory), all.slice(1), "a shared runtime folder is not used");
  Deno.chmodSync(`${dataDirectory}/control`, 0o770);
  assert.deepEqual(from(null), [last], "a shared folder is not used and not repaired");
  const deep = `${folder.path}/${"d".repeat(100)}`;
  Deno.mkdirSync(deep, { mode: 0o700 });
  assert.deepEqual(from(null, deep), [last], "107 bytes are all the kernel takes");
});

Deno.test("whyNotPrivate() takes nothing but a socket of this user in a private folder", () => {
  using folder = new TestFolder();
  const path = `${folder.path}/a.sock`;
  assert.equal(whyNotPrivate(path), "missing");
  assert.equal(whyNotPrivate(`${folder.path}/none/a.sock`), "missing");
  Deno.writeTextFileSync(path, "", { mode: 0o600 });
  assert.equal(whyNotPrivate(path), "not_private", "a file");
  assert.equal(whyNotPrivate(`${path}/b.sock`), "not_private", "below a file");
  Deno.removeSync(path);
  using _listener = Deno.listen({ transport: "unix", path });
  Deno.chmodSync(path, 0o600);
  assert.equal(whyNotPrivate(path), null);
  Deno.chmodSync(path, 0o640);
  assert.equal(whyNotPrivate(path), "not_private", "readable by the group");
  Deno.chmodSync(path, 0o600);
  Deno.chmodSync(folder.path, 0o711);
  assert.equal(whyNotPrivate(path), "not_private", "in a shared folder");
  Deno.chmodSync(folder.path, 0o700);
  Deno.symlinkSync(folder.path, `${folder.path}/link`);
  assert.equal(whyNotPrivate(`${folder.path}/link/a.sock`), "not_private", "behind a link");
});

Deno.test("removeAbandonedSocket() removes the socket of that owner and nothing else", () => {
  using folder = new TestFolder();
  const record = (path: string): OwnerRecord => ({
    instanceId,
    pid: 1,
    startTicks: "1",
    bootId: "b",
    startedWallMs: 0,
    task: null,
    control: { type: "listening", path, protocol: 1 },
  });
  const own = `${folder.path}/${instanceId}.sock`;
  Deno.writeTextFileSync(own, "a file of somebody", { mode: 0o600 });
  removeAbandonedSocket(record(own));
  assert.ok(folder.exists(`${instanceId}.sock`), "a file is no socket");
  Deno.removeSync(own);
  const other = `${folder.path}/other.sock`;
  using _other = Deno.listen({ transport: "unix", path: other });
  Deno.chmodSync(other, 0o600);
  removeAbandonedSocket(record(other));
  assert.ok(folder.exists("other.sock"), "a socket of another name");
  using _own = Deno.listen({ transport: "unix", path: own });
  Deno.chmodSync(own, 0o600);
  removeAbandonedSocket({ ...record(own), control: { type: "starting" } });
  assert.ok(folder.exists(`${instanceId}.sock`));
  removeAbandonedSocket(record(own));
  assert.equal(folder.exists(`${instanceId}.sock`), false);
  removeAbandonedSocket(record(own));
});
