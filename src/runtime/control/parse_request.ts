import type { BudgetLimits } from "../../core/budget/budget.ts";
import { type Id, type IdKind, parseId } from "../../core/ids.ts";
import {
  CONTROL_COMMANDS,
  CONTROL_QUERIES,
  type ControlCommand,
  type ControlQuery,
} from "../../core/port/control.ts";
import { err, ok, type Result } from "../../core/result.ts";

/** Longest text of a field, in UTF-16 units; the handlers have bounds of their own below it. */
const MAX_TEXT_UNITS = 65_536;

/** Stands for a value that is not one of the field's. */
const INVALID = Symbol("invalid");

type Reader<V> = (value: unknown) => V | typeof INVALID;
type Fields<M> = { readonly [K in Exclude<keyof M, "type">]: Reader<M[K]> };
type Of<M, T> = Extract<M, { readonly type: T }>;

/** Why what came is no request of the control subset. */
export type RequestProblem =
  | { readonly type: "not_permitted"; readonly detail: string }
  | { readonly type: "invalid"; readonly detail: string };

const COMMAND_FIELDS: {
  readonly [T in ControlCommand["type"]]: Fields<Of<ControlCommand, T>>;
} = {
  // Signals are the owner's own; whoever asks from outside is the user.
  cancel_task: { commandId: id("command"), taskId: id("task"), by: user },
  kill_task: { commandId: id("command"), taskId: id("task"), by: user },
  approve_operation: { commandId: id("command"), operationId: id("operation"), seen: text },
  deny_operation: {
    commandId: id("command"),
    operationId: id("operation"),
    seen: text,
    reason: text,
  },
  revoke_grant: { commandId: id("command"), grantId: id("grant") },
  extend_task: { commandId: id("command"), taskId: id("task"), more: limits },
  queue_message: { commandId: id("command"), taskId: id("task"), text },
  edit_message: {
    commandId: id("command"),
    taskId: id("task"),
    interventionId: id("intervention"),
    text,
  },
  remove_message: {
    commandId: id("command"),
    taskId: id("task"),
    interventionId: id("intervention"),
  },
};

const QUERY_FIELDS: { readonly [T in ControlQuery["type"]]: Fields<Of<ControlQuery, T>> } = {
  list_tasks: { cursor: orNull(text), limit: integer },
  show_task: { taskId: id("task") },
  list_operations: { taskId: id("task"), after: orNull(id("operation")), limit: integer },
  show_operation: { operationId: id("operation") },
  list_approvals: { taskId: id("task") },
  list_grants: { taskId: orNull(id("task")), cursor: orNull(text), limit: integer },
  list_messages: { taskId: id("task") },
  command_status: { commandId: id("command") },
};

/** Checks a command of a client: one of the subset, with exactly its fields. */
export function parseControlCommand(value: unknown): Result<ControlCommand, RequestProblem> {
  const type = CONTROL_COMMANDS.find((known) => known === typeOf(value));
  if (type === undefined) return notPermitted("command", value);
  const fields = readFields(value, COMMAND_FIELDS[type]);
  // Every field was read by the reader of its own type.
  return fields.ok ? ok({ type, ...fields.value } as ControlCommand) : fields;
}

/** Checks a query of a client: one of the subset, with exactly its fields. */
export function parseControlQuery(value: unknown): Result<ControlQuery, RequestProblem> {
  const type = CONTROL_QUERIES.find((known) => known === typeOf(value));
  if (type === undefined) return notPermitted("query", value);
  const fields = readFields(value, QUERY_FIELDS[type]);
  // Every field was read by the reader of its own type.
  return fields.ok ? ok({ type, ...fields.value } as ControlQuery) : fields;
}

function readFields(
  value: unknown,
  readers: Readonly<Record<string, Reader<unknown>>>,
): Result<Readonly<Record<string, unknown>>, RequestProblem> {
  if (!isObject(value)) return invalid("it is no object");
  const surplus = Object.keys(value).find((name) =>
    name !== "type" && !Object.hasOwn(readers, name)
  );
  if (surplus !== undefined) return invalid(`it has no field "${surplus.slice(0, 64)}"`);
  const fields: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(readers)) {
    const field = Object.hasOwn(value, name) ? read(value[name]) : INVALID;
    if (field === INVALID) return invalid(`its field "${name}" is missing or wrong`);
    fields[name] = field;
  }
  return ok(fields);
}

function notPermitted(what: string, value: unknown): Result<never, RequestProblem> {
  const type = typeOf(value);
  const detail = typeof type === "string" ? `${what} "${type.slice(0, 64)}"` : `no ${what}`;
  return err({ type: "not_permitted", detail });
}

function invalid(detail: string): Result<never, RequestProblem> {
  return err({ type: "invalid", detail });
}

function typeOf(value: unknown): unknown {
  return isObject(value) ? value.type : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function id<K extends IdKind>(kind: K): Reader<Id<K>> {
  return (value) => typeof value === "string" ? parseId(kind, value) ?? INVALID : INVALID;
}

function text(value: unknown): string | typeof INVALID {
  return typeof value === "string" && value.length <= MAX_TEXT_UNITS ? value : INVALID;
}

function integer(value: unknown): number | typeof INVALID {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : INVALID;
}

function user(value: unknown): "user" | typeof INVALID {
  return value === "user" ? value : INVALID;
}

function orNull<V>(read: Reader<V>): Reader<V | null> {
  return (value) => value === null ? null : read(value);
}

/** Amounts are judged by the handler; here they only have to be numbers of known limits. */
function limits(value: unknown): Partial<BudgetLimits> | typeof INVALID {
  if (!isObject(value)) return INVALID;
  const known = new Set(["maxTurns", "maxActiveSeconds", "maxToolCalls", "maxTotalTokens"]);
  return Object.entries(value).every(([name, amount]) =>
      known.has(name) && typeof amount === "number"
    )
    ? value
    : INVALID;
}
