/**
 * A Fluzo whose task asks for one command and waits for the answer. Argument: a workspace that
 * `TestHost.prepare` made. Prints one line when the task waits, and one with its state at the end.
 */
import { ScriptedAdapter } from "./scripted_adapter.ts";
import { startTask, TestHost } from "./test_host.ts";

const [root = ""] = Deno.args;

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

const { host } = await TestHost.attach(root, {
  adapter: new ScriptedAdapter([
    { calls: [{ name: "run", arguments: { command: ["touch", "made.txt"] } }] },
    { text: "done" },
  ]),
});
const started = await host.port.execute(startTask({ onAsk: "wait" }));
if (!started.ok) throw new Error(JSON.stringify(started.error));
const { taskId } = started.value;
for await (const updates of host.port.subscribe(taskId)) {
  const events = updates.flatMap((u) => u.type === "event" ? [u.envelope.event] : []);
  if (events.some((e) => e.type === "task_moved" && e.to === "waiting")) say("waiting");
  if (events.some(({ type }) => type === "task_ended")) break;
}
const task = await host.port.query({ type: "show_task", taskId });
say(task.ok ? task.value.state : JSON.stringify(task.error));
await host.shutdown("user");
Deno.exit(0);
