import type { FluzoError } from "../../core/errors.ts";
import type { CommandReplies, QueryReplies } from "../../core/port/application.ts";
import type { ControlCommand, ControlQuery } from "../../core/port/control.ts";
import type { Result } from "../../core/result.ts";

/** The control subset of a workspace, whoever carries it out. Closing it ends no task. */
export interface Steering extends AsyncDisposable {
  /** Where commands are carried out: by the live owner, or here, where no task runs. */
  readonly by: "owner" | "here";
  execute<T extends ControlCommand["type"]>(
    command: Extract<ControlCommand, { type: T }>,
  ): Promise<Result<CommandReplies[T], FluzoError>>;
  query<T extends ControlQuery["type"]>(
    query: Extract<ControlQuery, { type: T }>,
  ): Promise<Result<QueryReplies[T], FluzoError>>;
}
