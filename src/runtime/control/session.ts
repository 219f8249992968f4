import type { Timers } from "../../core/clock.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { InstanceId, WorkspaceId } from "../../core/ids.ts";
import type { ApplicationPort } from "../../core/port/application.ts";
import { err, type Result } from "../../core/result.ts";
import { encodeFrame } from "./frames.ts";
import type { FrameSocket } from "./frame_socket.ts";
import {
  type BadRequest,
  CONTROL_PROTOCOL,
  type FromClient,
  type FromOwner,
  MAX_REPLY_BYTES,
  parseFromClient,
  type Refusal,
} from "./protocol.ts";

/** How long a client may take to say hello, in milliseconds: it does so at once. */
const HELLO_TIMEOUT_MS = 2000;

/** How long a client with nothing under way may stay, in milliseconds. */
const IDLE_TIMEOUT_MS = 60_000;

/** Requests of one client under way; it is not read further until one is answered. */
const MAX_REQUESTS = 8;

/** The owner a session speaks for. */
export interface SessionOwner {
  readonly instanceId: InstanceId;
  readonly workspaceId: WorkspaceId;
  readonly port: Pick<ApplicationPort, "execute" | "query">;
  readonly timers: Timers;
}

/** The end of a connection that a session writes to. */
export type SessionWire = Pick<FrameSocket, "send" | "setReading" | "closeOnceSent">;

/**
 * What one client may do on its connection: say whom it means, then give commands and ask queries
 * of the control subset. They go to the same handlers as those of the owner's own terminal.
 */
export class ControlSession {
  readonly #owner: SessionOwner;
  readonly #wire: SessionWire;
  #state: "greeting" | "open" | "over" = "greeting";
  readonly #underWay = new Set<number>();
  readonly #onAnswered: () => void;
  #cancelTimer: () => void;

  /** @param onAnswered Told each time a request is done with. */
  constructor(owner: SessionOwner, wire: SessionWire, onAnswered: () => void) {
    this.#owner = owner;
    this.#wire = wire;
    this.#onAnswered = onAnswered;
    this.#cancelTimer = owner.timers.after(
      HELLO_TIMEOUT_MS,
      () => this.refuse("too_slow", "no hello"),
    );
  }

  /** Whether it has a request that is not answered. */
  get busy(): boolean {
    return this.#underWay.size > 0;
  }

  /** Takes one frame. */
  frame(text: string): void {
    if (this.#state === "over") return;
    const parsed = parseFromClient(text);
    if (!parsed.ok) return this.#bad(parsed.error);
    const message = parsed.value;
    if (message.type === "hello") return this.#hello(message);
    if (this.#state === "greeting") return this.refuse("malformed", "a request before the hello");
    if (this.#underWay.has(message.number)) return this.refuse("malformed", "a number in use");
    this.#serve(message);
  }

  /** Tells the client why, and ends the connection. */
  refuse(reason: Refusal, detail: string): void {
    if (this.#state === "over") return;
    this.#send({ type: "refused", reason, detail });
    this.over();
    this.#wire.closeOnceSent();
  }

  /** The connection is gone. What is under way goes on: it was accepted. */
  over(): void {
    this.#state = "over";
    this.#cancelTimer();
  }

  #hello(hello: Extract<FromClient, { type: "hello" }>): void {
    if (this.#state !== "greeting") return this.refuse("malformed", "a second hello");
    const { instanceId, workspaceId } = this.#owner;
    if (hello.protocol !== CONTROL_PROTOCOL) {
      return this.refuse("wrong_version", `version ${CONTROL_PROTOCOL} here`);
    }
    if (hello.instanceId !== instanceId || hello.workspaceId !== workspaceId) {
      return this.refuse("wrong_owner", "another one is here");
    }
    this.#state = "open";
    this.#send({ type: "hello", protocol: CONTROL_PROTOCOL, instanceId, workspaceId });
    this.#awaitNext();
  }

  #bad(problem: BadRequest): void {
    switch (problem.type) {
      case "malformed":
        return this.refuse("malformed", problem.detail);
      case "not_permitted":
      case "invalid": {
        if (this.#state === "greeting") {
          return this.refuse("malformed", "a request before the hello");
        }
        const reason = problem.type === "invalid" ? "refused" : "not_permitted";
        return this.#send({
          type: "reply",
          number: problem.number,
          result: err({ type: "control", reason, detail: problem.detail }),
        });
      }
    }
  }

  #serve(message: Exclude<FromClient, { type: "hello" }>): void {
    const { number } = message;
    this.#underWay.add(number);
    this.#cancelTimer();
    if (this.#underWay.size >= MAX_REQUESTS) this.#wire.setReading(false);
    this.#answer(message).then((result) => {
      this.#underWay.delete(number);
      if (this.#state !== "over") {
        this.#send({ type: "reply", number, result });
        if (this.#underWay.size === 0) this.#awaitNext();
        this.#wire.setReading(true);
      }
      this.#onAnswered();
    });
  }

  async #answer(
    message: Exclude<FromClient, { type: "hello" }>,
  ): Promise<Result<unknown, FluzoError>> {
    const { port } = this.#owner;
    try {
      return message.type === "command"
        ? await port.execute(message.command)
        : await port.query(message.query);
    } catch (failure) {
      return err({
        type: "internal",
        detail: failure instanceof Error ? failure.message : String(failure),
      });
    }
  }

  #awaitNext(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#owner.timers.after(
      IDLE_TIMEOUT_MS,
      () => this.refuse("too_slow", "nothing was asked"),
    );
  }

  #send(message: FromOwner): void {
    if (message.type === "reply" && encodeFrame(message).length > MAX_REPLY_BYTES) {
      const error = { type: "control", reason: "too_large", detail: "" } as const;
      this.#wire.send({ ...message, result: err(error) });
    } else this.#wire.send(message);
  }
}
