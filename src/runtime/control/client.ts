import type { Timers } from "../../core/clock.ts";
import type { ControlError, ControlReason, FluzoError } from "../../core/errors.ts";
import type { InstanceId, WorkspaceId } from "../../core/ids.ts";
import type { CommandReplies, QueryReplies } from "../../core/port/application.ts";
import type { ControlCommand, ControlQuery } from "../../core/port/control.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { LinuxError } from "../linux/errno.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { Poller } from "../linux/poller.ts";
import { connectUnix, type PeerCredentials, peerCredentials } from "../linux/unix_socket.ts";
import { FrameSocket } from "./frame_socket.ts";
import { whyNotPrivate } from "./place.ts";
import {
  CONTROL_PROTOCOL,
  type FromClient,
  type FromOwner,
  MAX_REPLY_BYTES,
  MAX_REQUEST_BYTES,
  parseFromOwner,
  type Refusal,
} from "./protocol.ts";

/** How long the owner may take to answer a hello, in milliseconds. */
const HELLO_TIMEOUT_MS = 2000;

/** How long an answer may take, in milliseconds: it needs a commit, never a model or a command. */
const REPLY_TIMEOUT_MS = 10_000;

/** The owner that is meant, and how to reach it. */
export interface ControlTarget {
  readonly path: string;
  readonly instanceId: InstanceId;
  readonly workspaceId: WorkspaceId;
  readonly timers: Timers;
  /** Who stands at the other end; the kernel's answer if left out. */
  readonly credentialsOf?: (connection: OwnedFd) => PeerCredentials;
}

type Answer = Result<unknown, FluzoError>;

/** One verified connection to the owner of a workspace. */
export class ControlConnection {
  readonly #timers: Timers;
  readonly #poller: Poller;
  readonly #socket: FrameSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #onHello: (hello: Result<FromOwner, ControlError>) => void = () => {};
  #number = 0;
  /** Why nothing comes any more; null while it is open. */
  #over: ControlError | null = null;

  private constructor(connection: OwnedFd, timers: Timers) {
    this.#timers = timers;
    this.#poller = new Poller((error) => this.#end(problem("unconfirmed", error.message)));
    this.#socket = new FrameSocket({
      fd: connection,
      poller: this.#poller,
      timers,
      maxFrameBytes: MAX_REPLY_BYTES,
      maxUnsentBytes: 2 * MAX_REQUEST_BYTES,
      handlers: {
        onFrame: (text) => this.#frame(parseFromOwner(text)),
        onBreach: (breach) => this.#end(problem("unconfirmed", `its answer is ${breach}`)),
        onClosed: () => this.#end(problem("unconfirmed", "")),
      },
    });
  }

  /** Looks that socket and peer are this user's, connects, and makes sure who answers. */
  static async open(target: ControlTarget): Promise<Result<ControlConnection, ControlError>> {
    const { path, timers, credentialsOf = peerCredentials } = target;
    const unfit = whyNotPrivate(path);
    if (unfit === "missing") return err(problem("no_owner", ""));
    if (unfit === "not_private") return err(problem("not_private", path));
    const connected = connect(path);
    if (!connected.ok) return connected;
    if (credentialsOf(connected.value).uid !== Deno.uid()) {
      connected.value.close();
      return err(problem("wrong_user", path));
    }
    const connection = new ControlConnection(connected.value, timers);
    const refused = await connection.#greet(target);
    if (refused === null) return ok(connection);
    await connection.close();
    return err(refused);
  }

  /** Gives a command. `unconfirmed` and `timed_out` leave open whether it was carried out. */
  command<T extends ControlCommand["type"]>(
    command: Extract<ControlCommand, { type: T }>,
  ): Promise<Result<CommandReplies[T], FluzoError>> {
    const number = this.#number++;
    // The owner's handler gives each command its own reply.
    return this.#request({ type: "command", number, command }) as Promise<
      Result<CommandReplies[T], FluzoError>
    >;
  }

  /** Asks a query. */
  query<T extends ControlQuery["type"]>(
    query: Extract<ControlQuery, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>> {
    const number = this.#number++;
    // The owner's handler gives each query its own reply.
    return this.#request({ type: "query", number, query }) as Promise<
      Result<QueryReplies[T], FluzoError>
    >;
  }

  /** Ends the connection; nothing of the owner ends with it. Idempotent. */
  async close(): Promise<void> {
    this.#socket.close();
    await this.#poller.close();
  }

  async #greet({ instanceId, workspaceId }: ControlTarget): Promise<ControlError | null> {
    const { promise, resolve } = Promise.withResolvers<Result<FromOwner, ControlError>>();
    this.#onHello = resolve;
    const cancel = this.#timers.after(
      HELLO_TIMEOUT_MS,
      () => resolve(err(problem("timed_out", ""))),
    );
    this.#send({ type: "hello", protocol: CONTROL_PROTOCOL, instanceId, workspaceId });
    const answer = await promise;
    cancel();
    if (!answer.ok) {
      // Nothing was asked yet, so nothing is in doubt: it went away.
      return answer.error.reason === "unconfirmed"
        ? problem("no_owner", answer.error.detail)
        : answer.error;
    }
    const hello = answer.value;
    if (hello.type !== "hello") return problem("refused", "no hello came");
    if (hello.protocol !== CONTROL_PROTOCOL) return problem("wrong_version", "");
    return hello.instanceId === instanceId && hello.workspaceId === workspaceId
      ? null
      : problem("wrong_owner", "");
  }

  #request(message: Exclude<FromClient, { type: "hello" }>): Promise<Answer> {
    if (this.#over !== null) return Promise.resolve(err(this.#over));
    const { number } = message;
    return new Promise((resolve) => {
      const cancel = this.#timers.after(REPLY_TIMEOUT_MS, () => {
        this.#waiting.delete(number);
        resolve(err(problem("timed_out", "")));
      });
      this.#waiting.set(number, (answer) => {
        cancel();
        resolve(answer);
      });
      this.#send(message);
    });
  }

  #frame(message: FromOwner | null): void {
    if (message === null) return this.#end(problem("refused", "it sent something else"));
    switch (message.type) {
      case "hello":
        return this.#onHello(ok(message));
      case "refused":
        return this.#end(refusalError(message.reason, message.detail));
      case "reply": {
        const waiting = this.#waiting.get(message.number);
        this.#waiting.delete(message.number);
        return waiting?.(message.result);
      }
    }
  }

  #send(message: FromClient): void {
    this.#socket.send(message);
  }

  #end(error: ControlError): void {
    if (this.#over !== null) return;
    this.#over = error;
    this.#onHello(err(error));
    // Each was sent, so nobody here knows whether it was carried out.
    const lost = problem("unconfirmed", error.detail);
    for (const answer of this.#waiting.values()) answer(err(lost));
    this.#waiting.clear();
    this.#socket.close();
  }
}

function connect(path: string): Result<OwnedFd, ControlError> {
  try {
    return ok(connectUnix(path));
  } catch (failure) {
    if (!(failure instanceof LinuxError)) throw failure;
    switch (failure.code) {
      case "ECONNREFUSED":
      case "ENOENT":
        return err(problem("no_owner", ""));
      case "EAGAIN":
        return err(problem("refused", "too many wait to be let in"));
      default:
        return err(problem("unavailable", failure.message));
    }
  }
}

function refusalError(refusal: Refusal, detail: string): ControlError {
  switch (refusal) {
    case "busy":
      return problem("refused", "it has too many connections");
    case "closing":
      return problem("no_owner", "it ends just now");
    case "wrong_user":
    case "wrong_version":
    case "wrong_owner":
    case "too_large":
      return problem(refusal, detail);
    case "malformed":
      return problem("refused", detail);
    case "too_slow":
      return problem("timed_out", detail);
  }
}

function problem(reason: ControlReason, detail: string): ControlError {
  return { type: "control", reason, detail };
}
