import { TestFluzo } from "../support/fluzo.ts";
import { JournalJudge } from "../support/journal_judge.ts";
import { nobodyIn } from "../support/processes_in.ts";
import { SeededRandom } from "../support/seeded_random.ts";
import { KINDS } from "./kinds.ts";

/** More than any run takes, with the retries of a provider, in milliseconds. */
const DEADLINE_MS = 90_000;

/** What a killed child may take to be gone, in milliseconds. */
const GONE_MS = 5_000;

/** How a run ended otherwise than it must; `as_expected` is the rest. */
export type Verdict =
  | { readonly type: "as_expected" }
  | { readonly type: "unexpected" | "hang" | "orphan" | "unsound"; readonly detail: string };

/** Does one run in a workspace of its own, and judges what is left of it. */
export async function soakRun(kind: string, seed: number): Promise<Verdict> {
  using fluzo = new TestFluzo();
  const work = KINDS[kind];
  if (work === undefined) throw new Error(`There is no kind "${kind}"`);
  const deadline = Promise.withResolvers<"late">();
  const timer = setTimeout(() => deadline.resolve("late"), DEADLINE_MS);
  try {
    const ended = await Promise.race([
      work({ fluzo, random: new SeededRandom(seed) }),
      deadline.promise,
    ]);
    if (ended === "late") return { type: "hang", detail: `longer than ${DEADLINE_MS} ms` };
  } catch (failure) {
    return {
      type: "unexpected",
      detail: failure instanceof Error ? failure.message : `${failure}`,
    };
  } finally {
    clearTimeout(timer);
  }
  try {
    await nobodyIn(fluzo.repository.path, GONE_MS);
  } catch (failure) {
    return { type: "orphan", detail: `${failure}` };
  }
  try {
    if (fluzo.repository.exists(".fluzodrive/state.sqlite3")) {
      using journal = new JournalJudge(`${fluzo.repository.path}/.fluzodrive`);
      // Deleting a session leaves a gap in the sequence on purpose.
      if (kind !== "a session is deleted") journal.requireSound();
    }
  } catch (failure) {
    return { type: "unsound", detail: `${failure}` };
  }
  return { type: "as_expected" };
}
