import type { Scenario } from "../../scenarios/simulator/scenario.ts";

type Frames = NonNullable<Scenario["steps"][number]["reply"]["frames"]>;

/** A step whose answer is a text. */
export function says(text: string): Scenario["steps"][number] {
  return reply([{ type: "text", text }, { type: "finish", reason: "stop" }, { type: "done" }]);
}

/** A step whose answer is one call. */
export function calls(
  name: string,
  args: Record<string, unknown>,
  id = "c1",
): Scenario["steps"][number] {
  return reply([
    { type: "call", index: 0, id, name, arguments: args, fragments: 1 },
    { type: "finish", reason: "tool_calls" },
    { type: "done" },
  ]);
}

/** A step that takes any request and streams these frames. */
export function reply(frames: Frames): Scenario["steps"][number] {
  return {
    expect: { last_message: [], conversation: [] },
    reply: { status: 200, headers: {}, hang: false, frames },
  };
}
