import type { FluzoError } from "../../core/errors.ts";
import { type InstanceId, parseId, type WorkspaceId } from "../../core/ids.ts";
import type { ControlCommand, ControlQuery } from "../../core/port/control.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { parseControlCommand, parseControlQuery } from "./parse_request.ts";

/**
 * What goes over the control socket: one JSON object a line. The client says hello, naming whom it
 * means; the owner answers with a hello or a refusal; then each request gets one reply with its
 * number, in whatever order they are done. Nothing else is sent.
 *
 * A change of any type of the control subset, of a reply or of an error is a new version.
 */
export const CONTROL_PROTOCOL = 1;

/**
 * Longest frame a client may send, in bytes: a message of the longest allowed text whose characters
 * are all escaped, with room for the rest.
 */
export const MAX_REQUEST_BYTES = 262_144;

/** Longest frame the owner sends, in bytes: a full page of operations with long scopes. */
export const MAX_REPLY_BYTES = 4 << 20;

/** Who speaks to whom. */
export interface Hello {
  readonly type: "hello";
  readonly protocol: number;
  readonly instanceId: InstanceId;
  readonly workspaceId: WorkspaceId;
}

/** Why the owner ends a connection. */
export const REFUSALS = [
  "busy",
  "closing",
  "wrong_user",
  "wrong_version",
  "wrong_owner",
  "malformed",
  "too_large",
  "too_slow",
] as const;
export type Refusal = typeof REFUSALS[number];

export type FromClient =
  | Hello
  | { readonly type: "command"; readonly number: number; readonly command: ControlCommand }
  | { readonly type: "query"; readonly number: number; readonly query: ControlQuery };

export type FromOwner =
  | Hello
  | { readonly type: "refused"; readonly reason: Refusal; readonly detail: string }
  | {
    readonly type: "reply";
    readonly number: number;
    readonly result: Result<unknown, FluzoError>;
  };

/** Why a request is not carried out; its number where it can be told. */
export type BadRequest =
  | { readonly type: "malformed"; readonly detail: string }
  | { readonly type: "not_permitted"; readonly number: number; readonly detail: string }
  | { readonly type: "invalid"; readonly number: number; readonly detail: string };

/** Reads a frame of a client. */
export function parseFromClient(text: string): Result<FromClient, BadRequest> {
  const frame = parseObject(text);
  if (frame === null) return err({ type: "malformed", detail: "not a JSON object" });
  const { type, number } = frame;
  if (type === "hello") {
    const hello = parseHello(frame);
    return hello === null ? err({ type: "malformed", detail: "not a hello" }) : ok(hello);
  }
  if (type !== "command" && type !== "query") {
    return err({ type: "malformed", detail: "neither hello, command nor query" });
  }
  if (!isNumber(number)) return err({ type: "malformed", detail: "a request without a number" });
  if (type === "command") {
    const command = parseControlCommand(frame.command);
    return command.ok ? ok({ type, number, command: command.value }) : err({
      ...command.error,
      number,
    });
  }
  const query = parseControlQuery(frame.query);
  return query.ok ? ok({ type, number, query: query.value }) : err({ ...query.error, number });
}

/** Reads a frame of the owner; null when it is none. */
export function parseFromOwner(text: string): FromOwner | null {
  const frame = parseObject(text);
  if (frame === null) return null;
  switch (frame.type) {
    case "hello":
      return parseHello(frame);
    case "refused": {
      const reason = REFUSALS.find((known) => known === frame.reason);
      return reason === undefined
        ? null
        : { type: "refused", reason, detail: String(frame.detail ?? "") };
    }
    case "reply":
      return isNumber(frame.number) && isResult(frame.result)
        ? { type: "reply", number: frame.number, result: frame.result }
        : null;
    default:
      return null;
  }
}

function parseHello(frame: Readonly<Record<string, unknown>>): Hello | null {
  const instanceId = parseId("instance", String(frame.instanceId));
  const workspaceId = parseId("workspace", String(frame.workspaceId));
  const { protocol } = frame;
  return isNumber(protocol) && instanceId !== null && workspaceId !== null
    ? { type: "hello", protocol, instanceId, workspaceId }
    : null;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The owner is the same program under the same user: an error it sends is one it made. */
function isResult(value: unknown): value is Result<unknown, FluzoError> {
  if (!isObject(value)) return false;
  if (value.ok === true) return "value" in value;
  return value.ok === false && isObject(value.error) && typeof value.error.type === "string";
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch (failure) {
    if (failure instanceof SyntaxError) return null;
    throw failure;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
