import assert from "node:assert/strict";
import type { Page, TaskSummary } from "../../../src/core/port/read_models.ts";
import {
  authorizedOperation,
  drafts,
  failure,
  opened,
  startedTask,
  temporaryStore,
  value,
} from "./_fixture.ts";

Deno.test("tasks(), operations() and events() page without loss or repetition", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const tasks = Array.from({ length: 7 }, startedTask);
  for (const task of tasks) value(await store.append(drafts(...task.events)));
  const taskIds: string[] = [];
  for (let cursor: string | null = null;;) {
    const page: Page<TaskSummary> = value(await store.tasks(cursor, 3));
    assert.ok(page.items.length <= 3);
    taskIds.push(...page.items.map((item) => item.id));
    cursor = page.next;
    if (cursor === null) break;
  }
  assert.deepEqual(taskIds, tasks.map((task) => task.taskId).reverse());

  const { taskId, attemptId } = tasks[3] ?? assert.fail();
  const operations = Array.from({ length: 6 }, () => authorizedOperation(attemptId));
  for (const operation of operations) value(await store.append(drafts(...operation.events)));
  const first = value(await store.operations(taskId, { after: null, limit: 4 }));
  const after = first.items.at(-1)?.id ?? assert.fail();
  assert.equal(first.next, after);
  const second = value(await store.operations(taskId, { after, limit: 4 }));
  assert.deepEqual(
    [...first.items, ...second.items].map((item) => item.id),
    operations.map((operation) => operation.operationId),
  );
  assert.equal(second.next, null);

  const all = value(await store.events(taskId, { afterSequence: 0, limit: 500 })).items;
  const paged = [];
  for (let afterSequence = 0;;) {
    const page = value(await store.events(taskId, { afterSequence, limit: 5 }));
    paged.push(...page.items);
    if (page.next === null) break;
    afterSequence = Number(page.next);
  }
  assert.deepEqual(paged, all);
  assert.equal(all.length, 4 + 2 * operations.length);
});

Deno.test("events() bounds a page by bytes and still moves on", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const task = startedTask();
  value(await store.append(drafts(...task.events)));
  const large = "x".repeat(700_000);
  for (let i = 0; i < 3; i++) {
    const { operationId, events } = authorizedOperation(task.attemptId);
    value(
      await store.append(drafts(
        ...events,
        { type: "operation_denied", operationId, evidence: [], reason: large },
      )),
    );
  }
  let afterSequence = 0;
  let count = 0;
  for (;;) {
    const options = { afterSequence, limit: 500 };
    const page = value(await store.events(task.taskId, options));
    const large = page.items.filter((item) => item.event.type === "operation_denied");
    assert.ok(large.length <= 1, "two large events came in one page");
    count += page.items.length;
    if (page.next === null) break;
    afterSequence = Number(page.next);
  }
  assert.equal(count, 4 + 9);
});

Deno.test("tasks() refuses a cursor it never gave", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  for (const cursor of ["", "-1", "1; DROP TABLE tasks", "0x10", "9".repeat(30)]) {
    assert.match(failure(await store.tasks(cursor, 3)).detail, /Cannot continue from cursor/);
  }
});
