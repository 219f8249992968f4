import type { GrantId } from "../ids.ts";

/** Who allowed something, and for how long. A grant is the user's act, never the model's. */
export type GrantSource =
  /** Given on the command line for one task. */
  | "command_line"
  /** An answer to one pending approval; consumed with the intent it allows. */
  | "approval"
  /** Listed in the configuration and consented to. */
  | "configured";

export interface Grant {
  readonly id: GrantId;
  /** `scopeKey` or `approvalKey` of the one scope this grant covers, or a file's path for `touch`. */
  readonly key: string;
  /**
   * `scope`: exactly this scope. `exact`: this scope and what it was bound to when it was asked
   * (`approvalKey`). `touch`: any native edit of this one path although the user had
   * changed it, for the version observed when the task began and for Fluzo's own later versions.
   */
  readonly covers: "scope" | "exact" | "touch";
  readonly source: GrantSource;
  readonly lifetime: "once" | "task";
  readonly state: "active" | "consumed" | "revoked" | "expired";
}
