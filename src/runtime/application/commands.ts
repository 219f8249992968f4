import type { FluzoError } from "../../core/errors.ts";
import type { Command, CommandReplies } from "../../core/port/application.ts";
import type { Result } from "../../core/result.ts";
import type { TaskService } from "./task_service.ts";

/** Carries out commands. Every transport comes through here: there is no second handler. */
export async function executeCommand<T extends Command["type"]>(
  tasks: TaskService,
  command: Extract<Command, { type: T }>,
): Promise<Result<CommandReplies[T], FluzoError>> {
  // The switch gives each command its own reply; the compiler cannot see that through `T`.
  return await execute(tasks, command) as Result<CommandReplies[T], FluzoError>;
}

async function execute(
  tasks: TaskService,
  command: Command,
): Promise<Result<CommandReplies[Command["type"]], FluzoError>> {
  switch (command.type) {
    case "start_task":
      return await tasks.start(command);
    case "cancel_task":
      return await tasks.cancel(command);
  }
}
