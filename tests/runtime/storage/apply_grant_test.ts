import assert from "node:assert/strict";
import type { Grant } from "../../../src/core/policy/grant.ts";
import {
  authorizedOperation,
  drafts,
  failure,
  intended,
  opened,
  startedTask,
  temporaryStore,
  value,
} from "./_fixture.ts";
import { oneOfEach } from "./_story.ts";

Deno.test("consumeGrant() lets one of two racing intents use a one-time grant", async () => {
  using place = temporaryStore();
  const task = startedTask();
  const { taskId, attemptId } = task;
  const one = authorizedOperation(attemptId);
  const two = authorizedOperation(attemptId);
  const { once } = oneOfEach();
  await using first = await opened(place.directory);
  value(
    await first.append(drafts(
      ...task.events,
      { type: "grant_issued", taskId, grant: once },
      ...one.events,
      ...two.events,
    )),
  );
  // A second writing connection of another worker: the transaction decides, not the queue.
  await using second = await opened(place.directory);
  const results = await Promise.all([
    first.append(drafts(intended(one.operationId, once.id))),
    second.append(drafts(intended(two.operationId, once.id))),
  ]);
  assert.deepEqual(results.map((result) => result.ok).sort(), [false, true]);
  const refused = results.find((result) => !result.ok);
  assert.ok(refused !== undefined && !refused.ok);
  assert.match(refused.error.detail, /Cannot consume grant .*: it is "consumed"/);
  const states = value(await first.operations(taskId, { after: null, limit: 9 })).items;
  assert.deepEqual(
    states.map((operation) => operation.state).sort(),
    ["authorized", "intent_committed"],
  );
});

const UNFIT: readonly { readonly name: string; readonly change: Partial<Grant>; why: RegExp }[] = [
  { name: "that lasts for the task", change: { lifetime: "task" }, why: /lasts for the task/ },
  { name: "of another scope", change: { key: "[]" }, why: /covers another scope/ },
  { name: "for a file", change: { covers: "touch", key: "a.ts" }, why: /covers another scope/ },
];
for (const { name, change, why } of UNFIT) {
  Deno.test(`consumeGrant() refuses a grant ${name}`, async () => {
    using place = temporaryStore();
    const task = startedTask();
    const grant = { ...oneOfEach().once, ...change };
    const { operationId, events } = authorizedOperation(task.attemptId);
    await using store = await opened(place.directory);
    value(
      await store.append(drafts(
        ...task.events,
        { type: "grant_issued", taskId: task.taskId, grant },
        ...events,
      )),
    );
    const error = failure(await store.append(drafts(intended(operationId, grant.id))));
    assert.match(error.detail, why);
    assert.equal(value(await store.task(task.taskId))?.grants[0]?.state, "active");
  });
}

Deno.test("consumeGrant() refuses another task's grant", async () => {
  using place = temporaryStore();
  const task = startedTask();
  const other = startedTask();
  const grant = oneOfEach().once;
  const { operationId, events } = authorizedOperation(task.attemptId);
  await using store = await opened(place.directory);
  value(
    await store.append(drafts(
      ...task.events,
      ...other.events,
      { type: "grant_issued", taskId: other.taskId, grant },
      ...events,
    )),
  );
  const error = failure(await store.append(drafts(intended(operationId, grant.id))));
  assert.match(error.detail, /another task/);
});
