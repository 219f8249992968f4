import type { FluzoError } from "../../core/errors.ts";
import type { Command, CommandReplies } from "../../core/port/application.ts";
import type { Result } from "../../core/result.ts";
import type { CommandLog } from "./command_log.ts";
import type { History } from "./history.ts";
import type { TaskAnswers } from "./task_answers.ts";
import type { TaskService } from "./task_service.ts";
import type { TaskSteering } from "./task_steering.ts";

/** The handlers of all commands. */
export interface CommandHandlers {
  readonly tasks: TaskService;
  readonly answers: TaskAnswers;
  readonly steering: TaskSteering;
  readonly history: History;
  readonly log: CommandLog;
}

/**
 * Carries out commands. Every transport comes through here: there is no second handler. A command
 * whose id came before is not carried out again: it gets the reply of the first time.
 */
export async function executeCommand<T extends Command["type"]>(
  handlers: CommandHandlers,
  command: Extract<Command, { type: T }>,
): Promise<Result<CommandReplies[T], FluzoError>> {
  return await handlers.log.run(
    command,
    // The switch gives each command its own reply; the compiler cannot see that through `T`.
    () => execute(handlers, command) as Promise<Result<CommandReplies[T], FluzoError>>,
  );
}

async function execute(
  { tasks, answers, steering, history }: CommandHandlers,
  command: Command,
): Promise<Result<CommandReplies[Command["type"]], FluzoError>> {
  switch (command.type) {
    case "start_task":
      return await tasks.start(command);
    case "resume_task":
      return await tasks.resume(command);
    case "cancel_task":
    case "kill_task":
      return await tasks.stop(command);
    case "approve_operation":
      return await answers.approve(command);
    case "deny_operation":
      return await answers.deny(command);
    case "revoke_grant":
      return await answers.revoke(command);
    case "set_yolo":
      return await steering.setYolo(command);
    case "extend_task":
      return await steering.extend(command);
    case "queue_message":
      return await steering.queue(command);
    case "edit_message":
      return await steering.edit(command);
    case "remove_message":
      return await steering.remove(command);
    case "purge_session":
      return await history.purge(command);
    case "purge_leftovers":
      return await history.purgeLeftovers();
  }
}
