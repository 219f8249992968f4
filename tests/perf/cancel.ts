import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import type { Steering } from "../../src/runtime/control/steering.ts";
import { openSteering } from "../../src/runtime/open_steering.ts";
import { workspaceIdentity } from "../../src/runtime/workspace/identity.ts";
import { readOwnerRecord } from "../../src/runtime/workspace/owner_record.ts";
import { Background } from "../support/background.ts";
import { endlessStream } from "../support/endless_stream.ts";
import { TestFluzo } from "../support/fluzo.ts";
import { newId } from "../support/ids.ts";
import { calls } from "../support/simulated.ts";
import { report } from "./report.ts";

/** A command that prints without an end, and as fast as it can. */
const NOISE = "yes noise";

/**
 * How long a cancellation from another process takes until it is acknowledged, which is when nothing
 * more is begun; and until the program that ran the task has ended.
 */
export async function measureCancel(rounds: number): Promise<void> {
  const streaming: Cancelled[] = [];
  const flooding: Cancelled[] = [];
  for (let i = 0; i < rounds; i++) {
    streaming.push(await whileStreaming());
    flooding.push(await whileFlooding());
  }
  report(
    "cancel while an answer streams, to its acknowledgement, ms",
    streaming.map((c) => c.ackMs),
  );
  report(
    "cancel while an answer streams, to the end of the program, ms",
    streaming.map((c) => c.endMs),
  );
  report("cancel while a command floods, to its acknowledgement, ms", flooding.map((c) => c.ackMs));
  report(
    "cancel while a command floods, to the end of the program, ms",
    flooding.map((c) => c.endMs),
  );
}

interface Cancelled {
  readonly ackMs: number;
  readonly endMs: number;
}

async function whileStreaming(): Promise<Cancelled> {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using server = endlessStream();
  await fluzo.setUp(server.baseUrl);
  await using owner = new Background(fluzo.command(["run", "go", "--output", "json"]));
  await server.flowing;
  return await cancel(fluzo, owner);
}

async function whileFlooding(): Promise<Cancelled> {
  using fluzo = new TestFluzo();
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using simulator = startSimulator([calls("shell", { script: NOISE })]);
  await fluzo.setUp(simulator.baseUrl);
  await using owner = new Background(
    fluzo.command(["run", "go", "--output", "json", "--allow-shell", NOISE]),
  );
  await owner.line("stderr", /… .*yes noise/);
  return await cancel(fluzo, owner);
}

async function cancel(fluzo: TestFluzo, owner: Background): Promise<Cancelled> {
  const record = readOwnerRecord(`${fluzo.repository.path}/.fluzodrive`);
  const taskId = record?.task ?? null;
  if (taskId === null) throw new Error("No task is at work");
  await using remote = await steer(fluzo);
  const beginMs = performance.now();
  const reply = await remote.execute({
    type: "cancel_task",
    commandId: newId("command"),
    taskId,
    by: "user",
  });
  const ackMs = performance.now() - beginMs;
  if (!reply.ok) throw new Error(reply.error.type);
  await owner.status;
  return { ackMs, endMs: performance.now() - beginMs };
}

async function steer(fluzo: TestFluzo): Promise<Steering> {
  const identity = await workspaceIdentity(fluzo.repository.path);
  const opened = await openSteering({ identity, variable: () => null });
  if (!opened.ok) throw new Error(opened.error.type);
  return opened.value;
}
