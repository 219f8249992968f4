/** A transition that a state machine does not have: a defect of the caller, never of the user. */
export interface InvalidTransition {
  readonly machine: "task" | "attempt" | "operation" | "request";
  readonly from: string;
  readonly to: string;
}
