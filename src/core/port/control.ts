import type { Command, Query } from "./application.ts";

/**
 * The subset of the application port that another process of the same user may use while a task
 * runs: it can answer, steer and end what was begun. It begins nothing, and it cannot widen what a
 * running task may do without being asked (`set_yolo`).
 */

/** Commands of that subset. */
export const CONTROL_COMMANDS = [
  "cancel_task",
  "kill_task",
  "approve_operation",
  "deny_operation",
  "revoke_grant",
  "extend_task",
  "queue_message",
  "edit_message",
  "remove_message",
] as const satisfies readonly Command["type"][];

/** Queries of that subset: what is needed to decide on a command. The rest is in the journal. */
export const CONTROL_QUERIES = [
  "list_tasks",
  "show_task",
  "list_operations",
  "show_operation",
  "list_approvals",
  "list_grants",
  "list_messages",
  "command_status",
] as const satisfies readonly Query["type"][];

export type ControlCommand = Extract<Command, { type: typeof CONTROL_COMMANDS[number] }>;
export type ControlQuery = Extract<Query, { type: typeof CONTROL_QUERIES[number] }>;
