import type { StopReply } from "../../core/port/application.ts";
import type { CommandContext } from "../composition.ts";
import { succeedWith } from "./_finish.ts";

/** Ends a command that ended a task, with what came of it. */
export async function reportStop(
  context: CommandContext,
  { taskId, state, changed }: StopReply,
): Promise<number> {
  return await succeedWith(context, {
    text: stopText({ taskId, state, changed }),
    json: { type: "stopped", task_id: taskId, state, changed },
  });
}

function stopText({ taskId, state, changed }: StopReply): string {
  switch (state) {
    case "stopping":
      return `${changed ? "Stopping" : "Stopping already:"} ${taskId}. Nothing more is begun.\n` +
        `How it ended: fluzo task show ${taskId}\n` +
        `If it does not end: fluzo task kill ${taskId} --yes\n`;
    case "cancelled":
      return changed ? `Cancelled ${taskId}\n` : `${taskId} was cancelled before\n`;
    case "completed":
    case "failed":
      return `${taskId} is over: ${state}\n`;
  }
}
