import assert from "node:assert/strict";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import type { Page, TaskSummary } from "../../../src/core/port/read_models.ts";
import { openStore } from "../../../src/runtime/storage/client.ts";
import {
  authorizedOperation,
  draft,
  drafts,
  failure,
  intended,
  newId,
  opened,
  startedTask,
  temporaryStore,
  value,
} from "./_fixture.ts";

function session(title: string): DomainEvent {
  return { type: "session_created", sessionId: newId("session"), title };
}

Deno.test("openStore() returns at once and can be closed before it is open", async () => {
  using place = temporaryStore();
  const store = openStore({ directory: place.directory, mode: "write", ownerAlive: () => true });
  await store.close();
  const result = await store.opened;
  // The request to open came first and was answered; afterwards the store is closed.
  if (result.ok) {
    assert.equal(failure(await result.value.append(drafts(session("x")))).reason, "worker_lost");
  }
});

Deno.test("openStore() tells why it cannot open, and ends the worker", async () => {
  using place = temporaryStore();
  Deno.mkdirSync(place.directory, { mode: 0o700 });
  Deno.writeFileSync(`${place.directory}/state.sqlite3`, new Uint8Array(9000).fill(1), {
    mode: 0o600,
  });
  for (const mode of ["write", "read"] as const) {
    const store = openStore({ directory: place.directory, mode, ownerAlive: () => true });
    const error = failure(await store.opened);
    assert.equal(error.reason, "corrupt");
    assert.equal(error.path, `${place.directory}/state.sqlite3`);
    await store.close();
  }
});

Deno.test("openStore() in mode read makes nothing and shows an empty journal", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory, { mode: "read" });
  assert.deepEqual(value(await store.tasks(null, 10)), { items: [], next: null });
  assert.deepEqual(value(await store.sessions(null, 10)), { items: [], next: null });
  assert.equal(value(await store.task(newId("task"))), null);
  assert.match(failure(await store.append(drafts(session("x")))).detail, /inspection only/);
  assert.deepEqual([...Deno.readDirSync(place.root)], []);
});

Deno.test("openStore() in mode read refuses writes and changes no committed byte", async () => {
  using place = temporaryStore();
  {
    await using store = await opened(place.directory);
    value(await store.append(drafts(session("x"))));
  }
  const before = Deno.readFileSync(`${place.directory}/state.sqlite3`);
  {
    await using store = await opened(place.directory, { mode: "read" });
    assert.match(failure(await store.append(drafts(session("y")))).detail, /inspection only/);
    const artifact = { id: newId("artifact"), kind: "diff", droppedBytes: 0 } as const;
    assert.match(
      failure(await store.putArtifact(artifact, new Uint8Array(1))).detail,
      /inspection only/,
    );
    assert.equal(value(await store.sessions(null, 10)).items.length, 1);
  }
  assert.deepEqual(Deno.readFileSync(`${place.directory}/state.sqlite3`), before);
  assert.deepEqual([...Deno.readDirSync(`${place.directory}/artifacts`)], []);
});

Deno.test("openStore() keeps what was acknowledged over a restart, in sequence", async () => {
  using place = temporaryStore();
  const task = startedTask();
  for (let round = 0; round < 3; round++) {
    await using store = await opened(place.directory);
    const batch = round === 0 ? drafts(...task.events) : drafts(session(`Round ${round}`));
    const { lastSequence } = value(await store.append(batch));
    assert.equal(lastSequence, task.events.length + round);
  }
  await using store = await opened(place.directory, { mode: "read" });
  const titles = value(await store.sessions(null, 10)).items.map((item) => item.title);
  assert.deepEqual(titles, ["Round 2", "Round 1", "First"]);
});

Deno.test("append() of many calls at once keeps their order", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) => store.append(drafts(session(`${i}`)))),
  );
  assert.deepEqual(results.map((r) => value(r).lastSequence), results.map((_, i) => i + 1));
  const titles = value(await store.sessions(null, 500)).items.map((item) => item.title);
  assert.deepEqual(titles, results.map((_, i) => `${99 - i}`));
});

Deno.test("append() of nothing commits nothing", async () => {
  using place = temporaryStore();
  await using store = await opened(place.directory);
  assert.deepEqual(value(await store.append([])), { lastSequence: 0 });
});

Deno.test("append() keeps text that is no well-formed UTF-16", async () => {
  using place = temporaryStore();
  const { events, sessionId, taskId } = startedTask();
  const text = "a\u0000b\ud800c\u2028😀";
  await using store = await opened(place.directory);
  value(
    await store.append(drafts(...events, {
      type: "message_recorded",
      messageId: newId("message"),
      sessionId,
      taskId,
      message: { role: "user", text },
    })),
  );
  assert.deepEqual(value(await store.messages(sessionId, 1e6)).messages, [{ role: "user", text }]);
});

Deno.test("openStore() tells of damage with path and remedy and keeps the file", async () => {
  using place = temporaryStore();
  const path = `${place.directory}/state.sqlite3`;
  {
    await using store = await opened(place.directory);
    for (let i = 0; i < 40; i++) {
      value(await store.append(drafts(...Array.from({ length: 50 }, () => session("s")))));
    }
  }
  // As a failing disk would leave it. The first page is whole: the file still looks like ours.
  const file = Deno.readFileSync(path).fill(0xa5, 20 * 4096);
  Deno.writeFileSync(path, file);
  const opening = openStore({ directory: place.directory, mode: "read", ownerAlive: () => true });
  const result = await opening.opened;
  const error = failure(result.ok ? await result.value.sessions(null, 500) : result);
  await opening.close();
  assert.deepEqual([error.reason, error.path], ["corrupt", path]);
  assert.match(error.detail, /keep the file, move it aside/);
  assert.deepEqual(Deno.readFileSync(path), file);
});

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

Deno.test("messages() keeps the newest that fit and says that older ones are cut", async () => {
  using place = temporaryStore();
  const { events, sessionId, taskId } = startedTask();
  await using store = await opened(place.directory);
  value(await store.append(drafts(...events)));
  const messages = ["one", "two", "three"].map((text) => ({ role: "user", text } as const));
  for (const message of messages) {
    const messageId = newId("message");
    value(
      await store.append(drafts(
        { type: "message_recorded", messageId, sessionId, taskId, message },
      )),
    );
  }
  const sizes = messages.map((message) => JSON.stringify(message).length);
  const all = sizes.reduce((sum, size) => sum + size);
  const rows = [
    [all, messages, false],
    [all - 1, messages.slice(1), true],
    [(sizes[2] ?? 0) + (sizes[1] ?? 0), messages.slice(1), true],
    [sizes[2] ?? 0, messages.slice(2), true],
    [(sizes[2] ?? 0) - 1, [], true],
    [0, [], true],
  ] as const;
  for (const [maxBytes, expected, cut] of rows) {
    assert.deepEqual(value(await store.messages(sessionId, maxBytes)), {
      messages: expected,
      cut,
    });
  }
});

/** A task that stands in the middle of everything. */
function midway() {
  const task = startedTask();
  const { sessionId, taskId, attemptId } = task;
  const requestId = newId("request");
  const messageId = newId("message");
  const grantId = newId("grant");
  const requested = newId("operation");
  const authorized = authorizedOperation(attemptId);
  const intent = authorizedOperation(attemptId);
  const running = authorizedOperation(attemptId);
  const events: DomainEvent[] = [
    ...task.events,
    {
      type: "request_reserved",
      requestId,
      attemptId,
      purpose: "agent_turn",
      model: "m",
      origin: "o",
      capacityId: "c",
      pool: "p",
      retry: 0,
      estimatedInputTokens: 1,
    },
    { type: "request_dispatched", requestId, bodyBytes: 1 },
    { type: "message_started", messageId, sessionId, taskId, requestId },
    // The batches part in the middle of a surrogate pair.
    { type: "message_checkpointed", messageId, offset: 0, text: "Hel\ud83d" },
    { type: "message_checkpointed", messageId, offset: 4, text: "\ude00lo" },
    {
      type: "grant_issued",
      taskId,
      grant: {
        id: grantId,
        key: "k",
        covers: "scope",
        source: "command_line",
        lifetime: "task",
        state: "active",
      },
    },
    ...authorizedOperation(attemptId).events.slice(0, 1).map((event) =>
      event.type === "operation_requested" ? { ...event, operationId: requested } : event
    ),
    ...authorized.events,
    ...intent.events,
    intended(intent.operationId),
    ...running.events,
    intended(running.operationId),
    { type: "operation_dispatched", operationId: running.operationId },
    { type: "process_started", operationId: running.operationId, pid: 4711 },
  ];
  const operations = [requested, authorized.operationId, intent.operationId, running.operationId];
  return { ...task, events, requestId, messageId, grantId, operations };
}

Deno.test("a reader derives what is interrupted and unknown once nobody owns the workspace", async () => {
  using place = temporaryStore();
  const { events, taskId, sessionId } = midway();
  {
    await using store = await opened(place.directory);
    value(await store.append(drafts(...events)));
  }
  const seen = async (ownerAlive: boolean) => {
    await using store = await opened(place.directory, { mode: "read", ownerAlive });
    const detail = value(await store.task(taskId));
    const listed = value(await store.tasks(null, 9)).items[0];
    const operations = value(await store.operations(taskId, { after: null, limit: 9 })).items;
    return {
      states: [detail?.state, listed?.state, detail?.attempts[0]?.state],
      derived: [detail?.derived, listed?.derived, detail?.attempts[0]?.derived],
      operations: operations.map((operation) => [operation.state, operation.derived]),
    };
  };
  const states = ["running", "running", "open"];
  assert.deepEqual(await seen(true), {
    states,
    derived: [null, null, null],
    operations: [
      ["requested", null],
      ["authorized", null],
      ["intent_committed", null],
      ["dispatched", null],
    ],
  });
  assert.deepEqual(await seen(false), {
    states,
    derived: ["interrupted", "interrupted", "interrupted"],
    operations: [
      ["requested", "cancelled"],
      ["authorized", "cancelled"],
      ["intent_committed", "unknown"],
      ["dispatched", "unknown"],
    ],
  });
  await using store = await opened(place.directory, { mode: "read", ownerAlive: false });
  const { messages } = value(await store.messages(sessionId, 1e6));
  assert.deepEqual(messages, [
    { role: "assistant", text: "Hel😀lo", reasoning: "", toolCalls: [], end: "incomplete" },
  ]);
});

Deno.test("unfinished() gives the next owner all it must write down, and then nothing", async () => {
  using place = temporaryStore();
  const story = midway();
  const { taskId, sessionId, attemptId, instanceId, requestId, messageId, grantId } = story;
  await using store = await opened(place.directory, { ownerAlive: false });
  value(await store.append(drafts(...story.events)));
  const open = value(await store.unfinished());
  const states = ["requested", "authorized", "intent_committed", "dispatched"] as const;
  const after = ["cancelled", "cancelled", "unknown", "unknown"] as const;
  assert.deepEqual(open, {
    tasks: [{ id: taskId, sessionId, state: "running", reason: null }],
    attempts: [{ id: attemptId, taskId, traceId: "0".repeat(32), instanceId }],
    operations: story.operations.map((id, i) => ({
      id,
      taskId,
      attemptId,
      tool: "run_command",
      state: states[i],
      afterLoss: after[i],
      pid: i === 3 ? 4711 : null,
    })),
    requests: [{
      id: requestId,
      taskId,
      attemptId,
      capacityId: "c",
      pool: "p",
      state: "dispatched",
    }],
    messages: [{ id: messageId, sessionId, taskId, requestId, text: "Hel😀lo" }],
    grants: [{ id: grantId, taskId }],
    more: false,
  });
  const recovery: DomainEvent[] = [
    ...open.operations.map((operation): DomainEvent =>
      operation.afterLoss === "unknown"
        ? { type: "operation_unknown", operationId: operation.id, detail: "its owner is gone" }
        : { type: "operation_cancelled", operationId: operation.id, reason: "cancelled" }
    ),
    ...open.messages.map(({ id, text }): DomainEvent => ({
      type: "message_completed",
      messageId: id,
      message: { role: "assistant", text, reasoning: "", toolCalls: [], end: "incomplete" },
      end: "incomplete",
    })),
    ...open.grants.map(({ id }): DomainEvent => ({
      type: "grant_ended",
      grantId: id,
      state: "expired",
    })),
    {
      type: "request_ended",
      requestId,
      outcome: "uncertain",
      usage: {
        inputTokens: null,
        outputTokens: null,
        cachedInputTokens: null,
        cacheWriteTokens: null,
        reasoningTokens: null,
      },
      rawFinish: null,
      error: null,
    },
    { type: "attempt_ended", attemptId, outcome: "interrupted", error: null },
    { type: "task_moved", taskId, from: "running", to: "blocked", reason: "interrupted" },
  ];
  value(await store.append(recovery.map((event) => draft(event))));
  assert.deepEqual(value(await store.unfinished()), {
    tasks: [],
    attempts: [],
    operations: [],
    requests: [],
    messages: [],
    grants: [],
    more: false,
  });
  const detail = value(await store.task(taskId));
  assert.deepEqual(
    [detail?.state, detail?.reason, detail?.derived, detail?.attempts[0]?.state],
    ["blocked", "interrupted", null, "interrupted"],
  );
});
