import type { FluzoError } from "../../core/errors.ts";
import type { CommandId } from "../../core/ids.ts";
import type { Command, CommandReplies, CommandStatus } from "../../core/port/application.ts";
import { err, type Result } from "../../core/result.ts";

/** Commands whose replies are remembered, so that a repeat is answered instead of done again. */
const MAX_REMEMBERED_COMMANDS = 256;

type AnyReply = Result<CommandReplies[Command["type"]], FluzoError>;

interface Remembered {
  /** The whole command, to notice another one under the same id. */
  readonly text: string;
  readonly reply: Promise<AnyReply>;
  status: CommandStatus;
}

/**
 * The commands of this runtime by their id, whichever way they came. An id stands for one command:
 * a repeat gets the same reply, and another command under it is refused.
 */
export class CommandLog {
  readonly #commands = new Map<CommandId, Remembered>();

  /** Carries a command out, or gives the reply that the same command got before. */
  async run<T extends Command["type"]>(
    command: Extract<Command, { type: T }>,
    perform: () => Promise<Result<CommandReplies[T], FluzoError>>,
  ): Promise<Result<CommandReplies[T], FluzoError>> {
    const text = textOf(command);
    const known = this.#commands.get(command.commandId);
    if (known !== undefined) {
      return known.text === text
        // The same command: its reply is one of this type.
        ? await known.reply as Result<CommandReplies[T], FluzoError>
        : err({ type: "control", reason: "id_reused", detail: command.commandId });
    }
    const reply = perform();
    const remembered: Remembered = { text, reply, status: { state: "running" } };
    this.#commands.set(command.commandId, remembered);
    this.#forget();
    try {
      const result = await reply;
      remembered.status = { state: "done", reply: result };
      return result;
    } catch (failure) {
      // A defect: nobody knows what was done, so a repeat is not held back.
      this.#commands.delete(command.commandId);
      throw failure;
    }
  }

  /** What became of a command. */
  status(commandId: CommandId): CommandStatus {
    return this.#commands.get(commandId)?.status ?? { state: "unknown" };
  }

  #forget(): void {
    const oldest = this.#commands.keys().next();
    if (this.#commands.size > MAX_REMEMBERED_COMMANDS && !oldest.done) {
      this.#commands.delete(oldest.value);
    }
  }
}

/** The same text for the same command, in whatever order its fields came. */
function textOf(command: Command): string {
  return JSON.stringify(Object.entries(command).toSorted(([a], [b]) => a < b ? -1 : 1));
}
