import type { WorkspaceError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type { WorkspaceReplies, WorkspaceRequest } from "./protocol.ts";

/** From the client to the worker. */
export interface RequestMessage {
  readonly id: number;
  readonly request: WorkspaceRequest;
}

/** From the worker to the client, one for each request, in their order. */
export interface ReplyMessage {
  readonly id: number;
  readonly result: Result<WorkspaceReplies[WorkspaceRequest["type"]], WorkspaceError>;
}
