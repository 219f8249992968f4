/**
 * `deno task soak`: many runs of every kind with the real program, each in a workspace of its own.
 * A run is decided by its seed alone, so that a failure can be run again.
 *
 *   deno task soak [--runs N] [--seed N] [--only KIND]
 *
 * Ends with 1 when a run exits unexpectedly, hangs, leaves a process or an unsound journal.
 */
import { KINDS } from "./kinds.ts";
import { soakRun, type Verdict } from "./soak_run.ts";

/** Runs at the same time: one a core of a small machine. */
const PARALLEL = 2;

const runs = option("runs", 1000);
const seed = option("seed", 20261206);
const only = text("only");
const kinds = only === null ? Object.keys(KINDS) : [only];
const counts = new Map(kinds.map((kind) => [kind, 0]));
const failures: { kind: string; seed: number; verdict: Verdict }[] = [];
const beginMs = performance.now();
let next = 0;

await Promise.all(Array.from({ length: PARALLEL }, async () => {
  while (next < runs) {
    const index = next++;
    const kind = kinds[index % kinds.length] ?? "";
    const verdict = await soakRun(kind, seed + index);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (verdict.type === "as_expected") continue;
    failures.push({ kind, seed: seed + index, verdict });
    say(`seed ${seed + index}, ${kind}: ${verdict.type}: ${verdict.detail}`);
  }
}));

for (const [kind, count] of counts) {
  const failed = failures.filter((failure) => failure.kind === kind).length;
  say(`${String(count - failed).padStart(5)} of ${count}  ${kind}`);
}
const of = (type: Verdict["type"]): number =>
  failures.filter(({ verdict }) => verdict.type === type).length;
say(
  `soak: ${runs} runs, seeds ${seed} to ${seed + runs - 1}, ` +
    `${Math.round((performance.now() - beginMs) / 1000)} s: ${
      of("unexpected")
    } unexpected exits, ` +
    `${of("hang")} hangs, ${of("orphan")} orphans, ${of("unsound")} unsound journals`,
);
Deno.exit(failures.length === 0 ? 0 : 1);

function text(name: string): string | null {
  const index = Deno.args.indexOf(`--${name}`);
  return index === -1 ? null : Deno.args[index + 1] ?? null;
}

function option(name: string, otherwise: number): number {
  const given = text(name);
  const number = given === null ? otherwise : Number(given);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} needs a number`);
  return number;
}

function say(line: string): void {
  // deno-lint-ignore no-console -- the report itself
  console.log(line);
}
