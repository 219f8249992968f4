import assert from "node:assert/strict";
import { startSimulator } from "../../scenarios/simulator/simulator.ts";
import { type OperationId, parseId } from "../../src/core/ids.ts";
import { Background } from "../support/background.ts";
import { TestFluzo } from "../support/fluzo.ts";
import { markedProcesses } from "../support/processes.ts";
import { calls, says } from "../support/simulated.ts";

/** Notes that it ran, and then runs until it is ended, or ends at once when it finds `quick`. */
const SCRIPT = "echo ran >> ran.txt; echo noted; test -e quick || exec sleep 600";

interface Killed {
  readonly session: string;
  readonly operation: OperationId;
}

/** Runs a command in a Fluzo that is killed in the middle of it; what the command started as well. */
async function killInCommand(fluzo: TestFluzo): Promise<Killed> {
  fluzo.repository.commit({ "a.txt": "1\n" });
  await using server = startSimulator([calls("shell", { script: SCRIPT })]);
  await fluzo.setUp(server.baseUrl);
  const command = fluzo.command(["run", "go", "--output", "stream-json", "--allow-shell", SCRIPT]);
  await using owner = new Background(command);
  const line = await owner.line("stdout", /"operation_dispatched"/);
  const operation = parseId("operation", JSON.parse(line).envelope.event.operationId);
  assert.ok(operation !== null, line);
  await owner.line("stdout", /^{"type":"output"/);
  owner.kill("SIGKILL");
  await owner.status;
  for (const pid of markedProcesses(operation)) Deno.kill(pid, "SIGKILL");
  const sessions = JSON.parse((await fluzo.must("session", "list", "--output", "json")).stdout);
  return { session: sessions.sessions[0].id, operation };
}

/** The messages of a request, from the model's call on. */
function conversation(body: unknown): string {
  const { messages } = body as { readonly messages: readonly { readonly role: string }[] };
  return JSON.stringify(messages.slice(messages.findIndex(({ role }) => role === "assistant")));
}

/** The same workspace, asking a server that answers with these steps. */
async function resume(
  fluzo: TestFluzo,
  { session, flags }: { readonly session: string; readonly flags: readonly string[] },
) {
  await using server = startSimulator([says("I see.")]);
  const config = fluzo.repository.read(".fluzo");
  const moved = config.replace(/base_url = .*/, `base_url = "${server.baseUrl}"`);
  fluzo.repository.write(".fluzo", moved);
  await fluzo.must("consent", "grant");
  const run = await fluzo.run("session", "resume", session, "--output", "json", ...flags);
  const [request] = server.requests;
  return { ...run, request: request === undefined ? null : conversation(request.body) };
}

const runs = (fluzo: TestFluzo): number => fluzo.repository.read("ran.txt").split("\n").length - 1;

Deno.test("after a kill in a command nothing goes on before its outcome is decided", async () => {
  using fluzo = new TestFluzo();
  const { session, operation } = await killInCommand(fluzo);
  const { code, stdout, stderr, request } = await resume(fluzo, { session, flags: [] });
  assert.equal(code, 33);
  assert.equal(request, null, "nothing was sent");
  assert.match(stderr, new RegExp(operation));
  assert.match(stderr, /--accept-unknown/);
  assert.match(stderr, /--retry-unknown/);
  assert.equal(JSON.parse(stdout).exit.name, "unknown_outcome");
  assert.equal(runs(fluzo), 1);
});

Deno.test("an accepted unknown outcome is told to the model and not done again", async () => {
  using fluzo = new TestFluzo();
  const { session, operation } = await killInCommand(fluzo);
  const { code, stdout, request } = await resume(fluzo, {
    session,
    flags: ["--accept-unknown", operation],
  });
  assert.equal(code, 0, stdout);
  assert.equal(runs(fluzo), 1);
  assert.match(request ?? "", /"role":"tool".*Interrupted: it is not known/);
  assert.equal(JSON.parse(stdout).answer, "I see.");
});

Deno.test("a retried unknown operation is done once more, and its result is the answer", async () => {
  using fluzo = new TestFluzo();
  const { session, operation } = await killInCommand(fluzo);
  fluzo.repository.write("quick", "");
  const { code, stdout, request } = await resume(fluzo, {
    session,
    flags: ["--retry-unknown", operation],
  });
  assert.equal(code, 0, stdout);
  assert.equal(runs(fluzo), 2);
  assert.match(request ?? "", /"role":"tool".*Exit code 0/);
  const again = await fluzo.run("session", "resume", session, "--retry-unknown", operation);
  assert.notEqual(again.code, 0, "a decision is for one time");
  assert.equal(runs(fluzo), 2);
});
