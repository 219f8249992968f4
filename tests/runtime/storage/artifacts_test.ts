import assert from "node:assert/strict";
import type { ArtifactId } from "../../../src/core/ids.ts";
import { MAX_ARTIFACT_BYTES } from "../../../src/runtime/storage/artifacts.ts";
import { newId } from "../../support/ids.ts";
import { drafts, failure, opened, temporaryStore, value } from "./_fixture.ts";

const BYTES = new TextEncoder().encode("hello\n");
const SHA256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

function described(id: ArtifactId) {
  return { id, kind: "process_output", droppedBytes: 4 } as const;
}

Deno.test("putArtifact() keeps a private file that reads back after a restart", async () => {
  using place = temporaryStore();
  const id = newId("artifact");
  const before = Deno.umask(0);
  try {
    await using store = await opened(place.directory);
    const artifact = value(await store.putArtifact(described(id), BYTES));
    assert.deepEqual(artifact, { ...described(id), digest: SHA256, sizeBytes: 6 });
    value(await store.append(drafts({ type: "artifact_recorded", artifact })));
  } finally {
    Deno.umask(before);
  }
  const entries = [...Deno.readDirSync(`${place.directory}/artifacts`)];
  assert.deepEqual(entries.map((entry) => entry.name), [id]);
  const info = Deno.statSync(`${place.directory}/artifacts/${id}`);
  assert.equal(((info.mode ?? 0) & 0o777).toString(8), "600");
  for (const mode of ["write", "read"] as const) {
    await using again = await opened(place.directory, { mode });
    assert.deepEqual(value(await again.artifact(id)), BYTES);
  }
});

Deno.test("putArtifact() leaves the caller its bytes", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const bytes = new Uint8Array(BYTES);
  value(await store.putArtifact(described(newId("artifact")), bytes));
  assert.deepEqual(bytes, BYTES);
});

Deno.test("putArtifact() never replaces an artifact", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const id = newId("artifact");
  value(await store.putArtifact(described(id), BYTES));
  const error = failure(await store.putArtifact(described(id), new Uint8Array(3)));
  assert.match(error.detail, /Cannot write an artifact twice/);
  assert.deepEqual(Deno.readFileSync(`${place.directory}/artifacts/${id}`), BYTES);
});

Deno.test("putArtifact() refuses what is too large", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const bytes = new Uint8Array(MAX_ARTIFACT_BYTES + 1);
  const error = failure(await store.putArtifact(described(newId("artifact")), bytes));
  assert.match(error.detail, /the limit is/);
  assert.deepEqual([...Deno.readDirSync(`${place.directory}/artifacts`)], []);
});

Deno.test("putArtifact() takes a file name from a parsed id alone", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  for (const id of ["../state.sqlite3", "art_../../x", "", "task_0123456789abcdefghjkmnpqrs"]) {
    // Text from outside that only pretends to be an id.
    const error = failure(await store.putArtifact(described(id as ArtifactId), BYTES));
    assert.match(error.detail, /Cannot name an artifact/);
  }
  assert.deepEqual([...Deno.readDirSync(`${place.directory}/artifacts`)], []);
});

Deno.test("artifact() is null for an id the journal does not know", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const id = newId("artifact");
  assert.equal(value(await store.artifact(id)), null);
  // Written but never recorded: no part of the journal.
  value(await store.putArtifact(described(id), BYTES));
  assert.equal(value(await store.artifact(id)), null);
});

const DAMAGES: readonly (readonly [string, (path: string) => void, RegExp])[] = [
  ["missing", (path) => Deno.removeSync(path), /content is missing/],
  ["altered", (path) => Deno.writeTextFileSync(path, "hellO\n"), /not what was recorded/],
  ["cut", (path) => Deno.truncateSync(path, 3), /has 3 bytes, recorded are 6/],
  ["replaced by a link", (path) => {
    Deno.renameSync(path, `${path}.moved`);
    Deno.symlinkSync(`${path}.moved`, path);
  }, /no regular file/],
];
for (const [name, damage, detail] of DAMAGES) {
  Deno.test(`artifact() shows content that is ${name} as damaged`, async () => {
    using place = temporaryStore();
    await using store = await opened(place.directory);
    const id = newId("artifact");
    const artifact = value(await store.putArtifact(described(id), BYTES));
    value(await store.append(drafts({ type: "artifact_recorded", artifact })));
    damage(`${place.directory}/artifacts/${id}`);
    const error = failure(await store.artifact(id));
    assert.equal(error.reason, "artifact_damaged");
    assert.ok(error.path.endsWith(id));
    assert.match(error.detail, detail);
  });
}
