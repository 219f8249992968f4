import assert from "node:assert/strict";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import { StreamRecorder } from "../../../src/runtime/execution/stream_recorder.ts";
import { countingIds } from "../../support/ids.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function open(append?: (events: readonly DomainEvent[]) => Promise<void>) {
  const ids = countingIds();
  const clock = new ManualClock();
  const written: (readonly DomainEvent[])[] = [];
  const requestId = ids.next("request");
  const recorder = new StreamRecorder({
    messageId: ids.next("message"),
    sessionId: ids.next("session"),
    taskId: ids.next("task"),
    requestId: () => requestId,
  }, {
    timers: clock,
    append: append ?? ((events) => {
      written.push([...events]);
      return Promise.resolve();
    }),
  });
  return { recorder, clock, written };
}

function checkpoints(
  written: readonly (readonly DomainEvent[])[],
): { offset: number; text: string }[] {
  return written.flat().flatMap((event) =>
    event.type === "message_checkpointed" ? [{ offset: event.offset, text: event.text }] : []
  );
}

Deno.test("StreamRecorder writes nothing for an answer that ends before its first checkpoint", async () => {
  const { recorder, written } = open();
  recorder.push("short");
  await recorder.close();
  assert.equal(written.length, 0);
  assert.equal(recorder.started, false);
});

Deno.test("StreamRecorder writes what waits when its time has come, at the right offset", async () => {
  const { recorder, clock, written } = open();
  recorder.push("one ");
  clock.advance(499);
  assert.equal(written.length, 0);
  clock.advance(1);
  await Promise.resolve();
  recorder.push("two");
  clock.advance(500);
  await recorder.close();
  assert.equal(written[0]?.[0]?.type, "message_started");
  assert.deepEqual(checkpoints(written), [{ offset: 0, text: "one " }, { offset: 4, text: "two" }]);
});

Deno.test("StreamRecorder writes a large batch at once, with one append in flight", async () => {
  let release: () => void = () => {};
  const batches: (readonly DomainEvent[])[] = [];
  const { recorder } = open((events) => {
    batches.push(events);
    return new Promise((resolve) => {
      release = resolve;
    });
  });
  recorder.push("x".repeat(9000));
  recorder.push("y".repeat(9000));
  recorder.push("z".repeat(9000));
  assert.equal(batches.length, 1);
  release();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(batches.length, 2);
  assert.deepEqual(checkpoints([[...(batches[1] ?? [])]]).map(({ text }) => text.length), [18_000]);
  const closing = recorder.close();
  release();
  await closing;
});

Deno.test("StreamRecorder reports a failed checkpoint when it is closed", async () => {
  const { recorder } = open(() => Promise.reject(new Error("disk full")));
  recorder.push("x".repeat(9000));
  await assert.rejects(recorder.close(), /disk full/);
});
