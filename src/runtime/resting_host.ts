import type { FluzoError } from "../core/errors.ts";
import type { Command, CommandReplies, Query, QueryReplies } from "../core/port/application.ts";
import type { ControlCommand } from "../core/port/control.ts";
import { ok, type Result } from "../core/result.ts";
import { cancelAtRest } from "./application/cancel_at_rest.ts";
import { History } from "./application/history.ts";
import { answerQuery } from "./application/queries.ts";
import { TaskAnswers } from "./application/task_answers.ts";
import { TaskSteering } from "./application/task_steering.ts";
import { UpdateHub } from "./application/update_hub.ts";
import type { Steering } from "./control/steering.ts";
import { DATA_DIRECTORY } from "./data_directory_name.ts";
import { restingJournal } from "./execution/task_journal.ts";
import { openGit } from "./git/open_git.ts";
import { readTracking } from "./git/repository.ts";
import { ownJournal } from "./own_journal.ts";
import { randomIds } from "./random_ids.ts";
import { hasJournal } from "./storage/data_directory.ts";
import { systemClock, systemTimers } from "./system_clock.ts";
import { startFiles } from "./workspace/start_files.ts";

/** What can be done where no task runs: the control commands, and deleting history. */
export type RestingCommand =
  | ControlCommand
  | Extract<Command, { type: "purge_session" | "purge_leftovers" }>;

/** The journal of a workspace where no task runs, with the right to answer what waits in it. */
export interface RestingHost extends Steering {
  execute<T extends RestingCommand["type"]>(
    command: Extract<RestingCommand, { type: T }>,
  ): Promise<Result<CommandReplies[T], FluzoError>>;
  query<T extends Query["type"]>(
    query: Extract<Query, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>>;
}

/**
 * Takes the ownership of a workspace for a moment. No configuration is read, nothing is contacted,
 * no task can be started; there is no control socket, since whoever waits gets the ownership soon.
 */
export async function openRestingHost(
  { root, variable }: {
    readonly root: string;
    readonly variable: (name: string) => string | null | "denied";
  },
): Promise<Result<RestingHost, FluzoError>> {
  const clock = systemClock;
  const ids = randomIds(clock);
  const git = await openGit({ root, variable, timers: systemTimers, clock });
  const directory = `${root}/${DATA_DIRECTORY}`;
  const tracking = readTracking(git, { path: DATA_DIRECTORY, filled: hasJournal(directory) });
  const instanceId = ids.next("instance");
  // Only recovery may need files, and of those only what a killed change left.
  const files = startFiles(root, { protectedPaths: [] });
  const owned = await ownJournal({ directory, root, tracking, clock, instanceId, files });
  files.close();
  if (!owned.ok) return owned;
  const { store, ownership } = owned.value;
  const resting = restingJournal({ writer: store, updates: new UpdateHub(), clock, ids });
  const services = { reader: store, ids, resting, attemptOf: () => null };
  const answers = new TaskAnswers(services);
  const steering = new TaskSteering(services);
  const history = new History({ journal: store, resting });
  const execute = async (
    command: RestingCommand,
  ): Promise<Result<CommandReplies[RestingCommand["type"]], FluzoError>> => {
    switch (command.type) {
      case "cancel_task":
      case "kill_task":
        return await cancelAtRest(services, command);
      case "approve_operation":
        return await answers.approve(command);
      case "deny_operation":
        return await answers.deny(command);
      case "revoke_grant":
        return await answers.revoke(command);
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
  };
  const sources = {
    reader: store,
    queued: () => [],
    output: () => null,
    commandStatus: () => ({ state: "unknown" } as const),
  };
  return ok({
    by: "here",
    // The switch gives each command its own reply; the compiler cannot see that through `T`.
    execute: execute as RestingHost["execute"],
    query: (query) => answerQuery(sources, query),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      ownership.release();
    },
  });
}
