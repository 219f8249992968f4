import assert from "node:assert/strict";
import { NONE_LEFT } from "../../../src/core/left_processes.ts";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import { newId } from "../../support/ids.ts";
import {
  authorizedOperation,
  COMMAND,
  draft,
  drafts,
  intended,
  opened,
  startedTask,
  temporaryStore,
  value,
} from "./_fixture.ts";

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
    {
      type: "process_started",
      operationId: running.operationId,
      pid: 4711,
      startTicks: "99",
      bootId: "boot",
    },
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
      scope: COMMAND,
      before: null,
      after: null,
      preImage: null,
    })),
    processes: [{
      id: story.operations[3],
      first: { pid: 4711, startTicks: "99", bootId: "boot" },
      left: NONE_LEFT,
    }],
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
    purged: false,
    more: false,
  });
  const left = {
    processes: [{ pid: 4712, startTicks: "100", bootId: "boot", command: "sleep 60" }],
    more: 0,
  };
  const recovery: DomainEvent[] = [
    ...open.operations.map((operation): DomainEvent =>
      operation.afterLoss === "unknown"
        ? { type: "operation_unknown", operationId: operation.id, detail: "its owner is gone" }
        : { type: "operation_cancelled", operationId: operation.id, reason: "cancelled" }
    ),
    { type: "processes_left", operationId: open.processes[0]?.id ?? newId("operation"), left },
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
  // What is alive stays on the list until it is seen to be gone.
  const [{ id, first } = { id: newId("operation"), first: null }] = open.processes;
  assert.deepEqual(value(await store.unfinished()).processes, [{ id, first, left }]);
  const gone: DomainEvent = { type: "processes_left", operationId: id, left: NONE_LEFT };
  value(await store.append([draft(gone)]));
  assert.deepEqual(value(await store.unfinished()), {
    tasks: [],
    attempts: [],
    operations: [],
    processes: [],
    requests: [],
    messages: [],
    grants: [],
    purged: false,
    more: false,
  });
  const detail = value(await store.task(taskId));
  assert.deepEqual(
    [detail?.state, detail?.reason, detail?.derived, detail?.attempts[0]?.state],
    ["blocked", "interrupted", null, "interrupted"],
  );
});
