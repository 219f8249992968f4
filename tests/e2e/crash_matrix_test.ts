import assert from "node:assert/strict";
import { crash, type KillPoint } from "../support/crash.ts";
import { CRASH_EFFECTS } from "../support/crash_script.ts";
import { JournalJudge, type JudgedOperation } from "../support/journal_judge.ts";
import { TestFolder } from "../support/repository.ts";
import { SeededRandom } from "../support/seeded_random.ts";
import { TestHost } from "../support/test_host.ts";
import { reportLine } from "../support/report_line.ts";

/** Kills in all. Each batch of the journal gets one before and one after it. */
const KILLS = 220;

/** A run with another seed kills at other moments: `FLUZO_SEED=7 deno test …`. */
const SEED = Number(Deno.env.get("FLUZO_SEED") ?? 20261204);

/** Processes that die at the same time. */
const PARALLEL = 2;

/** Longest head start of the store before the kill: a commit takes 1 ms. */
const MAX_COMMIT_MICROS = 3_000;

/** Longest head start of an effect: a file is changed between 2 and 5 ms after the dispatch. */
const MAX_EFFECT_MICROS = 6_000;

interface Verdict {
  readonly unknown: number;
  readonly removed: number;
  readonly resumed: boolean;
}

Deno.test("no kill loses an acknowledged event, hides an effect or repeats one", async () => {
  const points = await killPoints();
  const verdicts: Verdict[] = [];
  const waiting = [...points.entries()];
  await Promise.all(Array.from({ length: PARALLEL }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [number, point] = next;
      try {
        verdicts.push(await judge(point));
      } catch (failure) {
        throw new Error(`seed ${SEED}, kill ${number}: ${JSON.stringify(point)}`, {
          cause: failure,
        });
      }
    }
  }));
  const sum = (pick: (verdict: Verdict) => number) =>
    verdicts.reduce((total, verdict) => total + pick(verdict), 0);
  reportLine(
    `crash matrix: ${verdicts.length} kills, seed ${SEED}: ` +
      `${sum((v) => v.unknown)} operations unknown, ` +
      `${sum((v) => v.removed)} temporary files removed, ` +
      `${sum((v) => v.resumed ? 1 : 0)} tasks resumed to their end`,
  );
  assert.equal(verdicts.length, points.length);
  assert.ok(sum((v) => v.unknown) > 0 && sum((v) => v.removed) > 0, "too few kinds of kills");
});

/** Before and after every batch; the rest inside commits, effects and artifacts. */
async function killPoints(): Promise<readonly KillPoint[]> {
  using folder = new TestFolder();
  const batches = await crash(folder, null);
  const checkpoints = batches.filter(({ types }) => types.includes("message_checkpointed"));
  assert.ok(checkpoints.length >= 2, "the script streams nothing");
  for (const { name, count } of CRASH_EFFECTS) assert.equal(count(folder), 1, name);
  using journal = new JournalJudge(`${folder.path}/.fluzodrive`);
  const artifacts = await journal.requireArtifacts();
  const operations = journal.operations().length;
  const points = batches.flatMap((_, index): KillPoint[] => [
    { at: "append", index, side: "before" },
    { at: "append", index, side: "after" },
  ]);
  const random = new SeededRandom(SEED);
  const changes = journal.operations().flatMap(({ tool }, index) =>
    ["edit", "write", "remove"].includes(tool) ? [index] : []
  );
  while (points.length < KILLS) {
    points.push(random.pick<KillPoint>([
      {
        at: "append",
        index: random.below(batches.length),
        side: { duringMicros: random.below(MAX_COMMIT_MICROS) },
      },
      { at: "effect", index: random.below(operations), micros: random.below(MAX_EFFECT_MICROS) },
      {
        at: "effect",
        index: changes[random.below(changes.length)] ?? 0,
        micros: random.below(MAX_EFFECT_MICROS),
      },
      {
        at: "effect",
        index: changes[random.below(changes.length)] ?? 0,
        micros: random.below(MAX_EFFECT_MICROS),
      },
      { at: "artifact", index: random.below(artifacts), micros: random.below(MAX_COMMIT_MICROS) },
    ]));
  }
  return points;
}

async function judge(point: KillPoint): Promise<Verdict> {
  const folder = new TestFolder();
  const acknowledged = await crash(folder, point);
  const directory = `${folder.path}/.fluzodrive`;
  const effects = effectsIn(folder);
  using killed = new JournalJudge(directory);
  killed.requireSound();
  killed.requireAll(acknowledged);
  await killed.requireArtifacts();
  requireIntents(killed, effects);

  await using host = await TestHost.adopt(folder, [{ text: "done" }]);
  using recovered = new JournalJudge(directory);
  recovered.requireSound();
  const operations = recovered.operations();
  const open = ["requested", "authorized", "intent_committed", "dispatched"];
  assert.ok(operations.every(({ state }) => !open.includes(state)), "recovery left one open");
  const unknown = operations.filter(({ state }) => state === "unknown");
  requireNoTemporaries(folder, unknown);
  assert.deepEqual(effectsIn(folder), effects, "recovery changed the workspace");
  const resumed = await resume(host, unknown);
  assert.deepEqual(effectsIn(folder), effects, "resuming repeated an effect");

  const written = sequenceIn(directory);
  await using _again = await host.reopen([]);
  assert.equal(sequenceIn(directory), written, "an open with nothing to recover wrote events");
  return {
    unknown: unknown.length,
    removed: unknown.filter(({ summary }) => summary.includes("was removed")).length,
    resumed,
  };
}

function effectsIn(folder: TestFolder): Readonly<Record<string, number>> {
  return Object.fromEntries(CRASH_EFFECTS.map(({ name, count }) => [name, count(folder)]));
}

/** No effect without its intent, none twice, and none missing that the journal knows of. */
function requireIntents(
  journal: JournalJudge,
  effects: Readonly<Record<string, number>>,
): void {
  for (const { name, asks } of CRASH_EFFECTS) {
    const happened = effects[name] ?? 0;
    assert.ok(happened <= journal.intents(asks), `${name} happened without an intent`);
    const known = journal.operations().filter(({ tool, scope, outcome }) =>
      outcome === "ok" && asks({ tool, text: scope })
    ).length;
    assert.ok(known <= happened, `${name} is known to have happened, and did not`);
  }
}

/** A private name is either gone or told: nothing of a killed change lies about unseen. */
function requireNoTemporaries(folder: TestFolder, unknown: readonly JudgedOperation[]): void {
  for (const { name } of Deno.readDirSync(folder.path)) {
    if (!name.startsWith(".fluzo-tmp-")) continue;
    assert.ok(unknown.some(({ summary }) => summary.includes(name)), `${name} is left, untold`);
  }
}

/** Goes on with the task if it can be; whether it could. */
async function resume(test: TestHost, unknown: readonly JudgedOperation[]): Promise<boolean> {
  const tasks = await test.host.port.query({ type: "list_tasks", cursor: null, limit: 10 });
  assert.ok(tasks.ok);
  const [task] = tasks.value.items;
  if (task?.state !== "blocked") return false;
  const { task: ended } = await test.resume(task.id, {
    decisions: unknown.map(({ id }) => ({ operationId: id, decision: "accept" })),
  });
  assert.equal(ended.state, "completed", JSON.stringify(ended.result));
  return true;
}

function sequenceIn(directory: string): number {
  using journal = new JournalJudge(directory);
  return journal.lastSequence();
}
