import type { FluzoError } from "../../core/errors.ts";
import { type OperationId, parseId, type TaskId } from "../../core/ids.ts";
import { describeScope } from "../../core/policy/scope_text.ts";
import type { OperationDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Steering } from "../../runtime/control/steering.ts";
import { openSteering } from "../../runtime/open_steering.ts";
import type { CommandInput } from "../command_line.ts";
import { locate, readVariable } from "../composition.ts";

/** An operation that waits for an answer, and where to answer it. */
export interface Question {
  readonly host: Steering;
  readonly operation: OperationDetail;
  readonly taskId: TaskId;
}

/**
 * Finds who can answer and steer tasks of the workspace: the Fluzo that works there, or this process
 * where none does.
 */
export async function openForAnswers(
  { flags }: CommandInput,
): Promise<Result<Steering, FluzoError>> {
  // No server is contacted; Git looks at the data directory, so programs stay allowed.
  Deno.permissions.revokeSync({ name: "net" });
  const location = await locate(flags);
  if (!location.ok) return location;
  return await openSteering({ identity: location.value.identity, variable: readVariable });
}

/** Finds the one operation that the first argument means: its own id, or that of its task. */
export async function findQuestion(input: CommandInput): Promise<Result<Question, FluzoError>> {
  const text = input.positionals[0] ?? "";
  const operationId = parseId("operation", text);
  const taskId = parseId("task", text);
  if (operationId === null && taskId === null) {
    return usage(`"${text}" is no id of an operation or a task`);
  }
  const host = await openForAnswers(input);
  if (!host.ok) return host;
  const found = operationId === null
    ? await onlyQuestion(host.value, taskId)
    : await host.value.query({ type: "show_operation", operationId });
  if (found.ok) return ok({ host: host.value, ...found.value });
  await host.value[Symbol.asyncDispose]();
  return found;
}

async function onlyQuestion(
  host: Steering,
  taskId: TaskId | null,
): Promise<
  Result<{ readonly taskId: TaskId; readonly operation: OperationDetail }, FluzoError>
> {
  if (taskId === null) return usage("An id is missing");
  const waiting = await host.query({ type: "list_approvals", taskId });
  if (!waiting.ok) return waiting;
  const [operation, another] = waiting.value;
  if (operation === undefined) return usage(`Nothing of task ${taskId} waits for an answer`);
  return another === undefined
    ? ok({ taskId, operation })
    : usage(`${waiting.value.length} operations of task ${taskId} wait: name one of them`);
}

/** The scope on one line, and that nothing confines a command. */
export function questionText({ scope }: OperationDetail): string {
  const warning = scope.type === "command" ? "\n  Commands are not sandboxed." : "";
  return `  ${describeScope(scope)}${warning}\n`;
}

/** How a task goes on once it has been answered: by itself where it runs. */
export function goOn({ by }: Steering, taskId: TaskId): string {
  return by === "owner"
    ? "The task goes on where it runs.\n"
    : `Go on with: fluzo session resume ${taskId}\n`;
}

/** Reads the id of a task that the first argument must be. */
export function taskIdFrom({ positionals }: CommandInput): Result<TaskId, FluzoError> {
  const text = positionals[0] ?? "";
  const taskId = parseId("task", text);
  return taskId === null ? err({ type: "not_found", what: "task", id: text }) : ok(taskId);
}

/** Parses an operation id that an option names. */
export function operationIdFrom(text: string): Result<OperationId, FluzoError> {
  const id = parseId("operation", text);
  return id === null ? usage(`"${text}" is no id of an operation`) : ok(id);
}

function usage(message: string): Result<never, FluzoError> {
  return err({
    type: "usage",
    message,
    hint: "`fluzo task show` lists the operations of a task and their ids",
  });
}
