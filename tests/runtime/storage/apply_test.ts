import assert from "node:assert/strict";
import { NONE_LEFT } from "../../../src/core/left_processes.ts";
import type { DomainEvent, TaskResult } from "../../../src/core/events/event.ts";
import { recordedEvent } from "../../../src/core/events/recorded.ts";
import { newId } from "../../support/ids.ts";
import {
  authorizedOperation,
  COMMAND,
  DIGEST,
  draft,
  drafts,
  failure,
  intended,
  opened,
  startedTask,
  temporaryStore,
  value,
} from "./_fixture.ts";
import { CONSUMPTION, oneOfEach } from "./_story.ts";

Deno.test("applyBatch() applies every type of event and the read models show all of it", async () => {
  using place = temporaryStore();
  const story = oneOfEach();
  const { cases, order, taskId, sessionId, attemptId, operationIds, artifactId } = story;
  const [first, second, third, fourth] = operationIds;
  assert.deepEqual(
    new Set(order.map((event) => event.type)),
    new Set(Object.keys(cases)),
    "a type of event is not applied",
  );
  await using store = await opened(place.directory);
  const context = { taskId };
  const head = order.findIndex((event) => event.type === "task_created");
  const batch = order.map((event, index) => draft(event, index > head ? context : {}));
  assert.deepEqual(value(await store.append(batch)), { lastSequence: order.length });

  assert.deepEqual(value(await store.task(taskId)), {
    id: taskId,
    sessionId,
    goal: "Fix it",
    state: "completed",
    reason: null,
    derived: null,
    createdWallMs: 1000,
    updatedWallMs: 1000,
    limits: cases.limits_extended.limits,
    consumption: CONSUMPTION,
    verification: ["deno", "test"],
    yolo: true,
    attempts: [{
      id: attemptId,
      number: 1,
      state: "completed",
      derived: null,
      traceId: "0".repeat(32),
      model: "coder",
      startedWallMs: 1000,
      endedWallMs: 1000,
    }],
    operationCounts: {
      requested: 0,
      authorized: 0,
      intent_committed: 0,
      dispatched: 0,
      known_result: 2,
      unknown: 0,
      denied: 1,
      invalidated: 1,
      cancelled: 0,
    },
    grants: [
      { ...story.once, state: "consumed" },
      { ...story.once, id: story.taskGrantId, lifetime: "task", state: "revoked" },
    ],
    artifacts: [cases.artifact_recorded.artifact],
    baseline: cases.baseline_recorded.baseline,
    result: story.result,
  });
  const operations = value(await store.operations(taskId, { after: null, limit: 10 }));
  const common = { attemptId, tool: "run_command", scope: COMMAND, derived: null };
  const bare = {
    outcome: null,
    exitCode: null,
    pid: null,
    before: null,
    after: null,
    preImage: null,
    artifacts: [],
    left: NONE_LEFT,
  };
  assert.deepEqual(operations, {
    items: [
      {
        ...common,
        id: first,
        callId: first,
        state: "known_result",
        outcome: "error",
        summary: "exit code 3",
        exitCode: 3,
        pid: cases.process_started.pid,
        before: DIGEST,
        after: "absent",
        preImage: artifactId,
        artifacts: [artifactId],
        left: cases.processes_left.left,
      },
      {
        ...common,
        ...bare,
        id: second,
        callId: second,
        state: "denied",
        summary: "not wanted",
      },
      {
        ...common,
        ...bare,
        id: third,
        callId: third,
        state: "known_result",
        outcome: "interrupted",
        summary: "Outcome unknown, accepted as it is by the user",
      },
      { ...common, ...bare, id: fourth, callId: fourth, state: "invalidated", summary: "" },
    ],
    next: null,
  });
  assert.deepEqual(value(await store.messages(sessionId, 1_000_000)), {
    messages: [cases.message_recorded.message, cases.message_completed.message],
    cut: false,
  });
  assert.deepEqual(value(await store.sessions(null, 5)).items, [
    { id: sessionId, title: "First", createdWallMs: 1000, tasks: 1, messages: 2 },
  ]);
  const events = value(await store.events(taskId, { afterSequence: 0, limit: 500 })).items;
  // Workspace, session and configuration stand before the task's own events.
  const own = order.filter((event, index) => index >= head || event.type === "task_created");
  assert.deepEqual(events.map((envelope) => envelope.event), own.map(recordedEvent));
  assert.deepEqual(events.map((e) => e.sequence), own.map((event) => order.indexOf(event) + 1));
  const finished = events.find((envelope) => envelope.event.type === "operation_finished");
  assert.deepEqual(finished?.context, {
    sessionId,
    taskId,
    attemptId,
    traceId: null,
    spanId: null,
  });
});

Deno.test("applyBatch() keeps the contents of messages out of the events", async () => {
  using place = temporaryStore();
  const { order, cases } = oneOfEach();
  await using store = await opened(place.directory);
  value(await store.append(drafts(...order)));
  const events = value(
    await store.events(cases.task_ended.taskId, { afterSequence: 0, limit: 99 }),
  );
  const text = JSON.stringify(events.items);
  for (const content of ["Done \\ud83d", "Think", "Fix\\u0000"]) {
    assert.ok(!text.includes(content), content);
  }
});

/** Batches that must leave nothing behind, each after the task is running. */
const REFUSED: readonly {
  readonly name: string;
  readonly detail: RegExp;
  readonly events: (task: ReturnType<typeof startedTask>) => DomainEvent[];
}[] = [
  {
    name: "a transition the machine does not have",
    detail: /Cannot move task "task_.*" from "running" to "ready"/,
    events: ({ taskId }) => [
      { type: "task_moved", taskId, from: "running", to: "ready", reason: null },
    ],
  },
  {
    name: "a move from a state the task is not in",
    detail: /it is "running"/,
    events: ({ taskId }) => [
      { type: "task_moved", taskId, from: "ready", to: "running", reason: null },
    ],
  },
  {
    name: "a dispatch without an intent",
    detail: /Cannot move operation .* from "authorized" to "dispatched"/,
    events: ({ attemptId }) => {
      const { operationId, events } = authorizedOperation(attemptId);
      return [...events, { type: "operation_dispatched", operationId }];
    },
  },
  {
    name: "a result that contradicts the state",
    detail: /Cannot end task .* as "completed": it is "running"/,
    events: ({ taskId }) => [{ type: "task_ended", taskId, result: oneOfEach().result }],
  },
  {
    name: "a lowered consumption",
    detail: /Cannot lower the consumption/,
    events: ({ taskId }) => [
      { type: "budget_consumed", taskId, consumption: CONSUMPTION },
      { type: "budget_consumed", taskId, consumption: { ...CONSUMPTION, tokens: 6 } },
    ],
  },
  {
    name: "a second open attempt",
    detail: /UNIQUE constraint failed/,
    events: ({ taskId, snapshotId, instanceId }) => [{
      type: "attempt_started",
      attemptId: newId("attempt"),
      taskId,
      number: 2,
      traceId: "1".repeat(32),
      previousTraceId: null,
      instanceId,
      snapshotId,
      model: "m",
    }],
  },
  {
    name: "an attempt out of number",
    detail: /Cannot start attempt 3/,
    events: ({ taskId, attemptId, snapshotId, instanceId }) => [
      { type: "attempt_ended", attemptId, outcome: "blocked", error: null },
      {
        type: "attempt_started",
        attemptId: newId("attempt"),
        taskId,
        number: 3,
        traceId: "1".repeat(32),
        previousTraceId: null,
        instanceId,
        snapshotId,
        model: "m",
      },
    ],
  },
  {
    name: "an operation in an ended attempt",
    detail: /Cannot begin work in attempt/,
    events: ({ attemptId }) => [
      { type: "attempt_ended", attemptId, outcome: "failed", error: null },
      ...authorizedOperation(attemptId).events,
    ],
  },
  {
    name: "an attempt that ends twice",
    detail: /Cannot move attempt .* from "failed" to "completed"/,
    events: ({ attemptId }) => [
      { type: "attempt_ended", attemptId, outcome: "failed", error: null },
      { type: "attempt_ended", attemptId, outcome: "completed", error: null },
    ],
  },
  {
    name: "a checkpoint beside the committed end",
    detail: /at 2: it ends at 3/,
    events: (task) => {
      const { start, messageId } = streaming(task);
      return [
        ...start,
        { type: "message_checkpointed", messageId, offset: 0, text: "abc" },
        { type: "message_checkpointed", messageId, offset: 2, text: "d" },
      ];
    },
  },
  {
    name: "a completion that takes committed text back",
    detail: /differs from what is committed/,
    events: (task) => {
      const { start, messageId } = streaming(task);
      const message = { ...oneOfEach().cases.message_completed.message, text: "ab" };
      return [
        ...start,
        { type: "message_checkpointed", messageId, offset: 0, text: "abc" },
        { type: "message_completed", messageId, message, end: "stop" },
      ];
    },
  },
  {
    name: "an artifact nobody recorded",
    detail: /FOREIGN KEY constraint failed/,
    events: ({ attemptId }) => {
      const { operationId, events } = authorizedOperation(attemptId);
      const intent = intended(operationId);
      if (intent.type !== "operation_intended") return [];
      return [...events, { ...intent, preImage: newId("artifact") }];
    },
  },
  {
    name: "an event of an unknown task",
    detail: /Cannot find task/,
    events: () => [{ type: "cancel_requested", taskId: newId("task"), by: "user" }],
  },
  {
    name: "an unknown request",
    detail: /Cannot find request/,
    events: () => [{ type: "request_dispatched", requestId: newId("request"), bodyBytes: 1 }],
  },
];

function streaming({ sessionId, taskId, attemptId }: ReturnType<typeof startedTask>) {
  const messageId = newId("message");
  const { cases } = oneOfEach();
  const requestId = newId("request");
  const start: DomainEvent[] = [
    { ...cases.request_reserved, requestId, attemptId },
    { type: "message_started", messageId, sessionId, taskId, requestId },
  ];
  return { start, messageId, requestId };
}

for (const { name, detail, events } of REFUSED) {
  Deno.test(`applyBatch() refuses ${name} and leaves nothing of the batch`, async () => {
    using place = temporaryStore();
    const task = startedTask();
    await using store = await opened(place.directory);
    value(await store.append(drafts(...task.events)));
    const before = await everything(store, task);
    const good: DomainEvent = { type: "session_created", sessionId: newId("session"), title: "x" };
    const error = failure(await store.append(drafts(good, ...events(task), good)));
    assert.equal(error.reason, "invalid_transition");
    assert.match(error.detail, detail);
    assert.deepEqual(await everything(store, task), before);
    // The refused batch used up no sequence.
    const next = value(await store.append(drafts(good)));
    assert.deepEqual(next, { lastSequence: task.events.length + 1 });
  });
}

async function everything(
  store: Awaited<ReturnType<typeof opened>>,
  { taskId, sessionId }: ReturnType<typeof startedTask>,
) {
  return [
    value(await store.task(taskId)),
    value(await store.sessions(null, 99)),
    value(await store.operations(taskId, { after: null, limit: 99 })),
    value(await store.messages(sessionId, 1e6)),
    value(await store.events(taskId, { afterSequence: 0, limit: 99 })),
    value(await store.unfinished()),
  ];
}

Deno.test("applyBatch() forgets the result of a blocked task once the task goes on", async () => {
  using place = temporaryStore();
  const { taskId, attemptId, events } = startedTask();
  const result: TaskResult = { ...oneOfEach().result, status: "blocked" };
  await using store = await opened(place.directory);
  value(
    await store.append(drafts(
      ...events,
      { type: "task_moved", taskId, from: "running", to: "blocked", reason: "budget_exhausted" },
      { type: "task_ended", taskId, result },
      { type: "attempt_ended", attemptId, outcome: "blocked", error: null },
    )),
  );
  const blocked = value(await store.task(taskId));
  assert.deepEqual([blocked?.reason, blocked?.result], ["budget_exhausted", result]);
  value(
    await store.append(drafts(
      { type: "task_moved", taskId, from: "blocked", to: "ready", reason: null },
    )),
  );
  const resumed = value(await store.task(taskId));
  // Consumption never resets, the rest begins anew.
  assert.deepEqual(
    [resumed?.state, resumed?.reason, resumed?.result, resumed?.consumption],
    ["ready", null, null, CONSUMPTION],
  );
});

Deno.test("applyBatch() refuses the same event twice", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const once = draft({ type: "session_created", sessionId: newId("session"), title: "x" });
  value(await store.append([once]));
  const again = { ...once, event: { ...once.event, sessionId: newId("session") } };
  assert.match(failure(await store.append([again])).detail, /UNIQUE constraint failed: events.id/);
});

Deno.test("applyBatch() refuses a context that contradicts the event", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const one = startedTask();
  const two = startedTask();
  value(await store.append(drafts(...one.events, ...two.events)));
  const event: DomainEvent = { type: "cancel_requested", taskId: one.taskId, by: "user" };
  const error = failure(await store.append([draft(event, { taskId: two.taskId })]));
  assert.match(error.detail, /Cannot file an event of task/);
});
