import assert from "node:assert/strict";
import {
  CONTROL_COMMANDS,
  CONTROL_QUERIES,
  type ControlCommand,
  type ControlQuery,
} from "../../../src/core/port/control.ts";
import {
  parseControlCommand,
  parseControlQuery,
} from "../../../src/runtime/control/parse_request.ts";
import { newId } from "../../support/ids.ts";

const commandId = newId("command");
const taskId = newId("task");
const operationId = newId("operation");
const interventionId = newId("intervention");

const COMMANDS: readonly ControlCommand[] = [
  { type: "cancel_task", commandId, taskId, by: "user" },
  { type: "kill_task", commandId, taskId, by: "user" },
  { type: "approve_operation", commandId, operationId, seen: "key" },
  { type: "deny_operation", commandId, operationId, seen: "key", reason: "" },
  { type: "revoke_grant", commandId, grantId: newId("grant") },
  { type: "extend_task", commandId, taskId, more: { maxTurns: 3, maxTotalTokens: 5 } },
  { type: "queue_message", commandId, taskId, text: "now the other one" },
  { type: "edit_message", commandId, taskId, interventionId, text: "x" },
  { type: "remove_message", commandId, taskId, interventionId },
];

const QUERIES: readonly ControlQuery[] = [
  { type: "list_tasks", cursor: null, limit: 10 },
  { type: "show_task", taskId },
  { type: "list_operations", taskId, after: operationId, limit: 1 },
  { type: "show_operation", operationId },
  { type: "list_approvals", taskId },
  { type: "list_grants", taskId: null, cursor: "next", limit: 2 },
  { type: "list_messages", taskId },
  { type: "command_status", commandId },
];

Deno.test("every command and query of the subset comes out as it went in", () => {
  assert.deepEqual(COMMANDS.map(({ type }) => type), CONTROL_COMMANDS);
  assert.deepEqual(QUERIES.map(({ type }) => type), CONTROL_QUERIES);
  for (const command of COMMANDS) {
    assert.deepEqual(parseControlCommand(JSON.parse(JSON.stringify(command))), {
      ok: true,
      value: command,
    });
  }
  for (const query of QUERIES) {
    assert.deepEqual(parseControlQuery(JSON.parse(JSON.stringify(query))), {
      ok: true,
      value: query,
    });
  }
});

Deno.test("what begins a task or widens what it may do is not permitted", () => {
  for (
    const value of [
      { type: "start_task", commandId, goal: "x" },
      { type: "resume_task", commandId, taskId },
      { type: "set_yolo", commandId, taskId, on: true },
      { type: "shutdown" },
      { type: "toString" },
      { type: "__proto__" },
      { type: 1 },
      {},
      null,
      [],
      "cancel_task",
    ]
  ) {
    const parsed = parseControlCommand(value);
    assert.ok(!parsed.ok && parsed.error.type === "not_permitted", JSON.stringify(value));
  }
  for (const type of ["read_artifact", "read_session", "list_events", "cancel_task"]) {
    const parsed = parseControlQuery({ type, taskId });
    assert.ok(!parsed.ok && parsed.error.type === "not_permitted", type);
  }
});

Deno.test("a field that is missing, wrong or surplus is named", () => {
  for (
    const [value, detail] of [
      [{ type: "cancel_task", commandId, by: "user" }, /"taskId"/],
      [{ type: "cancel_task", commandId, taskId: operationId, by: "user" }, /"taskId"/],
      [{ type: "cancel_task", commandId, taskId, by: "SIGINT" }, /"by"/],
      [{ type: "cancel_task", commandId, taskId, by: "user", owner: true }, /"owner"/],
      [{ type: "approve_operation", commandId, operationId, seen: 1 }, /"seen"/],
      [{ type: "queue_message", commandId, taskId, text: "x".repeat(65_537) }, /"text"/],
      [{ type: "extend_task", commandId, taskId, more: { maxWhatever: 1 } }, /"more"/],
      [{ type: "extend_task", commandId, taskId, more: { maxTurns: "1" } }, /"more"/],
      [{ type: "extend_task", commandId, taskId, more: [1] }, /"more"/],
    ] as const
  ) {
    const parsed = parseControlCommand(value);
    assert.ok(!parsed.ok && parsed.error.type === "invalid", JSON.stringify(value));
    assert.match(parsed.error.detail, detail);
  }
  const inherited = Object.create({ taskId }, {
    type: { value: "show_task", enumerable: true },
  });
  assert.equal(parseControlQuery(inherited).ok, false);
  assert.equal(parseControlQuery({ type: "list_tasks", cursor: null, limit: 1.5 }).ok, false);
});
