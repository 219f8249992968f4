import type { Clock } from "../../core/clock.ts";
import type { ControlError, FluzoError } from "../../core/errors.ts";
import type { CommandReplies, CommandStatus, QueryReplies } from "../../core/port/application.ts";
import type { ControlCommand, ControlQuery } from "../../core/port/control.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { ControlConnection, type ControlTarget } from "./client.ts";
import type { Steering } from "./steering.ts";

/** How long the outcome of a command whose answer was lost is looked for, in milliseconds. */
const RECONCILE_MS = 5000;

/** How often a command that is still being carried out is asked for, in milliseconds. */
const ASK_AGAIN_MS = 50;

/**
 * The live owner of a workspace, asked through its control socket. An answer that got lost is looked
 * for by the command's id; only a command that never arrived is sent again, with the same id.
 */
export class RemoteSteering implements Steering {
  readonly by = "owner";
  readonly #target: ControlTarget;
  readonly #clock: Clock;
  #connection: ControlConnection;

  private constructor(
    target: ControlTarget,
    { clock, connection }: { readonly clock: Clock; readonly connection: ControlConnection },
  ) {
    this.#target = target;
    this.#clock = clock;
    this.#connection = connection;
  }

  static async open(
    target: ControlTarget,
    clock: Clock,
  ): Promise<Result<RemoteSteering, ControlError>> {
    const connection = await ControlConnection.open(target);
    return connection.ok
      ? ok(new RemoteSteering(target, { clock, connection: connection.value }))
      : connection;
  }

  async execute<T extends ControlCommand["type"]>(
    command: Extract<ControlCommand, { type: T }>,
  ): Promise<Result<CommandReplies[T], FluzoError>> {
    const reply = await this.#connection.command<T>(command);
    if (reply.ok || !isUnclear(reply.error)) return reply;
    return await this.#reconcile<T>(command, reply.error);
  }

  query<T extends ControlQuery["type"]>(
    query: Extract<ControlQuery, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>> {
    return this.#connection.query<T>(query);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  async #reconcile<T extends ControlCommand["type"]>(
    command: Extract<ControlCommand, { type: T }>,
    unclear: FluzoError,
  ): Promise<Result<CommandReplies[T], FluzoError>> {
    const { commandId } = command;
    const untilMs = this.#clock.monotonicMs() + RECONCILE_MS;
    while (this.#clock.monotonicMs() < untilMs) {
      await this.#connection.close();
      const connection = await ControlConnection.open(this.#target);
      if (!connection.ok) return err(unclear);
      this.#connection = connection.value;
      const status: Result<CommandStatus, FluzoError> = await this.#connection.query({
        type: "command_status",
        commandId,
      });
      if (!status.ok) return err(unclear);
      switch (status.value.state) {
        case "done":
          // The reply to this very command.
          return status.value.reply as Result<CommandReplies[T], FluzoError>;
        case "unknown":
          return await this.#connection.command<T>(command);
        case "running":
          await new Promise<void>((resolve) => this.#target.timers.after(ASK_AGAIN_MS, resolve));
      }
    }
    return err(unclear);
  }
}

/** Whether an error leaves open what became of the command. */
function isUnclear(error: FluzoError): boolean {
  return error.type === "control" &&
    (error.reason === "unconfirmed" || error.reason === "timed_out");
}
