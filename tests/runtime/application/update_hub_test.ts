import assert from "node:assert/strict";
import type { Update } from "../../../src/core/port/application.ts";
import { UpdateHub } from "../../../src/runtime/application/update_hub.ts";
import { countingIds } from "../../support/ids.ts";

const ids = countingIds();
const taskId = ids.next("task");
const messageId = ids.next("message");

function text(content: string): Update {
  return { type: "text", messageId, channel: "answer", text: content };
}

async function nextBatch(subscription: AsyncIterable<readonly Update[]>) {
  const step = await subscription[Symbol.asyncIterator]().next();
  assert.equal(step.done, false);
  return step.value;
}

Deno.test("UpdateHub merges neighbouring text of one channel and keeps the order", async () => {
  const hub = new UpdateHub();
  const subscription = hub.subscribe(taskId);
  hub.publish(taskId, text("a"));
  hub.publish(taskId, text("b"));
  hub.publish(taskId, { type: "status", text: "s" });
  hub.publish(taskId, text("c"));
  assert.deepEqual(await nextBatch(subscription), [
    text("ab"),
    { type: "status", text: "s" },
    text("c"),
  ]);
});

Deno.test("UpdateHub wakes a reader that waits", async () => {
  const hub = new UpdateHub();
  const subscription = hub.subscribe(taskId);
  const batch = nextBatch(subscription);
  hub.publish(taskId, text("late"));
  assert.deepEqual(await batch, [text("late")]);
});

Deno.test("UpdateHub tells a slow reader that it lags instead of growing", async () => {
  const hub = new UpdateHub();
  const subscription = hub.subscribe(taskId);
  for (let i = 0; i < 5000; i++) {
    hub.publish(taskId, { type: "status", text: String(i) });
    hub.publish(taskId, text("x".repeat(1000)));
  }
  const batch = await nextBatch(subscription);
  assert.deepEqual(batch[0], { type: "lagged", sinceSequence: 0 });
  const units = batch.reduce((sum, update) => sum + ("text" in update ? update.text.length : 0), 0);
  assert.ok(units < 2 << 20, `${units} units wait`);
});

Deno.test("UpdateHub delivers only to subscribers of the task, and none after close", async () => {
  const hub = new UpdateHub();
  const subscription = hub.subscribe(taskId);
  hub.publish(ids.next("task"), text("other"));
  subscription.close();
  hub.publish(taskId, text("late"));
  const batches = [];
  for await (const batch of subscription) batches.push(batch);
  assert.deepEqual(batches, []);
});
