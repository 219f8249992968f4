import type { FluzoError } from "../core/errors.ts";
import type { Command, CommandReplies, Query, QueryReplies } from "../core/port/application.ts";
import { ok, type Result } from "../core/result.ts";
import { answerQuery } from "./application/queries.ts";
import { TaskAnswers } from "./application/task_answers.ts";
import { TaskSteering } from "./application/task_steering.ts";
import { UpdateHub } from "./application/update_hub.ts";
import { DATA_DIRECTORY } from "./data_directory_name.ts";
import { restingJournal } from "./execution/task_journal.ts";
import { openGit } from "./git/open_git.ts";
import { readTracking } from "./git/repository.ts";
import { ownJournal } from "./own_journal.ts";
import { randomIds } from "./random_ids.ts";
import { hasJournal } from "./storage/data_directory.ts";
import { systemClock, systemTimers } from "./system_clock.ts";
import { startFiles } from "./workspace/start_files.ts";

/** Commands that a task at rest takes: they write to the journal and execute nothing. */
export type RestingCommand = Extract<
  Command,
  { type: "approve_operation" | "deny_operation" | "revoke_grant" | "extend_task" }
>;

/** The journal of a workspace where no task runs, with the right to answer what waits in it. */
export interface RestingHost extends AsyncDisposable {
  execute<T extends RestingCommand["type"]>(
    command: Extract<RestingCommand, { type: T }>,
  ): Promise<Result<CommandReplies[T], FluzoError>>;
  query<T extends Query["type"]>(
    query: Extract<Query, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>>;
}

/**
 * Takes the ownership of a workspace for a moment. No configuration is read, nothing is contacted,
 * no task can be started.
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
  // Only recovery may need files, and of those only what a killed change left.
  const files = startFiles(root, { protectedPaths: [] });
  const owned = await ownJournal({ directory, root, tracking, clock, files });
  files.close();
  if (!owned.ok) return owned;
  const { store, ownership } = owned.value;
  const services = {
    reader: store,
    ids,
    resting: restingJournal({ writer: store, updates: new UpdateHub(), clock, ids }),
    attemptOf: () => null,
  };
  const answers = new TaskAnswers(services);
  const steering = new TaskSteering(services);
  const execute = async (
    command: RestingCommand,
  ): Promise<Result<CommandReplies[RestingCommand["type"]], FluzoError>> => {
    switch (command.type) {
      case "approve_operation":
        return await answers.approve(command);
      case "deny_operation":
        return await answers.deny(command);
      case "revoke_grant":
        return await answers.revoke(command);
      case "extend_task":
        return await steering.extend(command);
    }
  };
  return ok({
    // The switch gives each command its own reply; the compiler cannot see that through `T`.
    execute: execute as RestingHost["execute"],
    query: (query) => answerQuery({ reader: store, queued: () => [], output: () => null }, query),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      ownership.release();
    },
  });
}
