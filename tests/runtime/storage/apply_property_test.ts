import assert from "node:assert/strict";
import fc from "fast-check";
import type { DomainEvent } from "../../../src/core/events/event.ts";
import { formatId, type Id, type IdKind } from "../../../src/core/ids.ts";
import { ATTEMPT_OUTCOMES } from "../../../src/core/lifecycle/attempt.ts";
import { TASK_STATES } from "../../../src/core/lifecycle/task.ts";
import { scopeKey } from "../../../src/core/policy/scope.ts";
import { UNKNOWN_USAGE } from "../../../src/core/usage.ts";
import { applyBatch } from "../../../src/runtime/storage/apply.ts";
import { prepareDataDirectory } from "../../../src/runtime/storage/data_directory.ts";
import { openReader, openWriter } from "../../../src/runtime/storage/database.ts";
import { committedText } from "../../../src/runtime/storage/read_messages.ts";
import type { Statements } from "../../../src/runtime/storage/statements.ts";
import { toStorageError } from "../../../src/runtime/storage/storage_failure.ts";
import { COMMAND, DIGEST, drafts, intended, LIMITS, temporaryStore, value } from "./_fixture.ts";
import { applyToModel, emptyModel, type Model, turnsOnly } from "./_journal_model.ts";

/** Each run opens a database of its own; this many take about two seconds. */
const RUNS = 60;

/** Few ids of each kind, so that events meet each other. */
const IDS = 3;

function fixedId<K extends IdKind>(kind: K, index: number): Id<K> {
  return formatId(kind, index, new Uint8Array(16));
}

const SESSION = fixedId("session", 0);
const SNAPSHOT = fixedId("snapshot", 0);

function id<K extends IdKind>(kind: K): fc.Arbitrary<Id<K>> {
  return fc.nat(IDS - 1).map((index) => fixedId(kind, index));
}

const ANY_EVENT: fc.Arbitrary<DomainEvent> = fc.oneof(
  id("task").map((taskId): DomainEvent => ({
    type: "task_created",
    taskId,
    sessionId: SESSION,
    goal: "g",
    limits: LIMITS,
    verification: [],
    yolo: false,
  })),
  fc.tuple(id("task"), fc.constantFrom(...TASK_STATES), fc.constantFrom(...TASK_STATES)).map(
    ([taskId, from, to]): DomainEvent => ({ type: "task_moved", taskId, from, to, reason: null }),
  ),
  fc.tuple(id("task"), fc.nat(4)).map(([taskId, turns]): DomainEvent => ({
    type: "budget_consumed",
    taskId,
    consumption: turnsOnly(turns),
  })),
  fc.tuple(id("attempt"), id("task"), fc.integer({ min: 1, max: 2 })).map(
    ([attemptId, taskId, number]): DomainEvent => ({
      type: "attempt_started",
      attemptId,
      taskId,
      number,
      traceId: "t",
      previousTraceId: null,
      instanceId: fixedId("instance", 0),
      snapshotId: SNAPSHOT,
      model: "m",
    }),
  ),
  fc.tuple(id("attempt"), fc.constantFrom(...ATTEMPT_OUTCOMES)).map(
    ([attemptId, outcome]): DomainEvent => ({
      type: "attempt_ended",
      attemptId,
      outcome,
      error: null,
    }),
  ),
  fc.tuple(id("operation"), id("attempt")).map(([operationId, attemptId]): DomainEvent => ({
    type: "operation_requested",
    operationId,
    attemptId,
    callId: "c",
    tool: "t",
    scope: COMMAND,
  })),
  id("operation").map((operationId): DomainEvent => ({
    type: "operation_authorized",
    operationId,
    evidence: [],
  })),
  fc.tuple(id("operation"), fc.option(id("grant"))).map(([operationId, grantId]) =>
    intended(operationId, grantId)
  ),
  id("operation").map((operationId): DomainEvent => ({
    type: "operation_dispatched",
    operationId,
  })),
  fc.tuple(id("operation"), fc.constantFrom("a", "b", "c", "d")).map(
    ([operationId, end]): DomainEvent => {
      switch (end) {
        case "a":
          return { type: "operation_denied", operationId, evidence: [], reason: "r" };
        case "b":
          return { type: "operation_unknown", operationId, detail: "d" };
        case "c":
          return { type: "operation_cancelled", operationId, reason: "cancelled" };
        case "d":
          return {
            type: "operation_finished",
            operationId,
            outcome: "ok",
            summary: "s",
            artifacts: [],
            exitCode: 0,
          };
      }
    },
  ),
  fc.tuple(id("grant"), id("task"), fc.constantFrom("once", "task")).map(
    ([grantId, taskId, lifetime]): DomainEvent => ({
      type: "grant_issued",
      taskId,
      grant: {
        id: grantId,
        key: scopeKey(COMMAND),
        covers: "scope",
        source: "approval",
        lifetime,
        state: "active",
      },
    }),
  ),
  id("grant").map((grantId): DomainEvent => ({ type: "grant_ended", grantId, state: "expired" })),
  fc.tuple(id("request"), id("attempt")).map(([requestId, attemptId]): DomainEvent => ({
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
  })),
  id("request").map((requestId): DomainEvent => ({
    type: "request_dispatched",
    requestId,
    bodyBytes: 1,
  })),
  fc.tuple(
    id("request"),
    fc.constantFrom("complete", "cancelled_before_dispatch", "uncertain"),
  ).map(([requestId, outcome]): DomainEvent => ({
    type: "request_ended",
    requestId,
    outcome,
    usage: UNKNOWN_USAGE,
    rawFinish: null,
    error: null,
  })),
  fc.tuple(id("message"), id("request")).map(([messageId, requestId]): DomainEvent => ({
    type: "message_started",
    messageId,
    sessionId: SESSION,
    taskId: fixedId("task", 0),
    requestId,
  })),
  fc.tuple(id("message"), fc.nat(3), fc.constantFrom("", "x", "x\ud83d", "\ude00")).map(
    ([messageId, offset, text]): DomainEvent => ({
      type: "message_checkpointed",
      messageId,
      offset,
      text,
    }),
  ),
  fc.tuple(id("message"), fc.constantFrom("", "x", "xx\ud83d")).map(
    ([messageId, text]): DomainEvent => ({
      type: "message_completed",
      messageId,
      message: { role: "assistant", text, reasoning: "", toolCalls: [], end: "stop" },
      end: "stop",
    }),
  ),
);

/** The tables as the model sees them. */
function tables(statements: Statements): Model {
  const model = emptyModel();
  for (const row of statements.all("SELECT id, state, consumption FROM tasks")) {
    const { turns } = row.json<{ turns: number }>("consumption");
    model.tasks.set(row.text("id"), { state: row.id("state"), turns });
  }
  for (const row of statements.all("SELECT id, task_id, number, state FROM attempts")) {
    const taskId = row.text("task_id");
    const number = row.integer("number");
    model.attempts.set(row.text("id"), { taskId, number, state: row.id("state") });
  }
  for (const row of statements.all("SELECT id, attempt_id, state, grant_id FROM operations")) {
    const attemptId = row.text("attempt_id");
    const grant = row.textOrNull("grant_id");
    model.operations.set(row.text("id"), { attemptId, state: row.id("state"), grant });
  }
  for (const row of statements.all("SELECT id, state FROM provider_requests")) {
    model.requests.set(row.text("id"), row.id("state"));
  }
  for (const row of statements.all("SELECT id, state, body FROM messages")) {
    const body = row.jsonOrNull<{ text: string }>("body");
    const text = body?.text ?? committedText(statements, row.id("id"));
    model.messages.set(row.text("id"), { text, complete: row.text("state") === "complete" });
  }
  for (const row of statements.all("SELECT id, task_id, state, lifetime FROM permission_grants")) {
    model.grants.set(row.text("id"), {
      taskId: row.text("task_id"),
      state: row.id("state"),
      once: row.text("lifetime") === "once",
    });
  }
  return model;
}

/** What every run starts with, so that its events have something to meet. */
const TASK = fixedId("task", 0);
const ATTEMPT = fixedId("attempt", 0);
const START: readonly DomainEvent[] = [
  {
    type: "task_created",
    taskId: TASK,
    sessionId: SESSION,
    goal: "g",
    limits: LIMITS,
    verification: [],
    yolo: false,
  },
  {
    type: "attempt_started",
    attemptId: ATTEMPT,
    taskId: TASK,
    number: 1,
    traceId: "t",
    previousTraceId: null,
    instanceId: fixedId("instance", 0),
    snapshotId: SNAPSHOT,
    model: "m",
  },
];

Deno.test("applyBatch() agrees with an in-memory oracle on any events, legal or not", async () => {
  let accepted = 0;
  let refused = 0;
  const batches = fc.array(
    fc.record({
      candidates: fc.array(ANY_EVENT, { minLength: 4, maxLength: 16 }),
      onlyLegal: fc.boolean(),
    }),
    { minLength: 5, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(batches, async (run) => {
      using place = temporaryStore();
      const path = value(prepareDataDirectory(place.directory)).databasePath ?? assert.fail();
      const writer = await openWriter(path, { availableBytes: null });
      const reader = openReader(path);
      let sequence = applyBatch(
        writer,
        drafts(
          { type: "session_created", sessionId: SESSION, title: "s" },
          { type: "config_recorded", snapshotId: SNAPSHOT, fingerprint: DIGEST, settings: null },
          ...START,
        ),
      );
      let model = emptyModel();
      for (const event of START) assert.ok(applyToModel(model, event));
      for (const { candidates, onlyLegal } of run) {
        const batch = chooseBatch(model, { candidates, onlyLegal });
        const next = structuredClone(model);
        const legal = batch.every((event) => applyToModel(next, event));
        const outcome = attempt(() => applyBatch(writer, drafts(...batch)));
        if (legal) {
          sequence += batch.length;
          model = next;
          accepted++;
        } else {
          refused++;
        }
        assert.deepEqual(outcome, legal ? sequence : "invalid_transition");
        assert.deepEqual(tables(reader), model);
      }
      const count = reader.get("SELECT count(*) AS n, max(sequence) AS last FROM events");
      assert.deepEqual([count?.integer("n"), count?.integer("last")], [sequence, sequence]);
      reader.close();
      writer.close();
    }),
    { numRuns: RUNS },
  );
  // A property that meets only one kind proves little.
  assert.ok(accepted > 5 * RUNS && refused > 2 * RUNS, `${accepted} accepted, ${refused} refused`);
});

/**
 * Events picked blindly are nearly all illegal. So a batch is the candidates that are legal one
 * after the other; where refusals are wanted too, one that may be anything stands at the end.
 */
function chooseBatch(
  model: Model,
  { candidates, onlyLegal }: {
    readonly candidates: readonly DomainEvent[];
    readonly onlyLegal: boolean;
  },
): DomainEvent[] {
  let reached = model;
  const batch: DomainEvent[] = [];
  for (const event of candidates) {
    const next = structuredClone(reached);
    if (!applyToModel(next, event)) continue;
    batch.push(event);
    reached = next;
  }
  return onlyLegal ? batch : [...batch, ...candidates.slice(0, 1)];
}

/** The last sequence, or the reason of the refusal. */
function attempt(work: () => number): number | string {
  try {
    return work();
  } catch (thrown) {
    return toStorageError(thrown, "").reason;
  }
}
