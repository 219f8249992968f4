import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { OperationId } from "../../src/core/ids.ts";
import type { Acknowledged } from "./crash.ts";
import { TestFolder } from "./repository.ts";

/** One operation, read from the database without any code of the runtime. */
export interface JudgedOperation {
  readonly id: OperationId;
  readonly tool: string;
  readonly scope: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly summary: string;
}

/** States in which the journal admits that the effect may have happened. */
const MAY_HAVE_HAPPENED = ["intent_committed", "dispatched", "known_result", "unknown"];

/**
 * What a database says, read by SQL alone from a copy: a mistake in the runtime's reader cannot hide
 * a mistake of its writer, and looking changes nothing.
 */
export class JournalJudge implements Disposable {
  readonly #database: DatabaseSync;
  readonly #directory: string;
  readonly #copy: TestFolder;

  constructor(directory: string) {
    this.#directory = directory;
    this.#copy = new TestFolder("fluzo-judge-");
    for (const name of ["state.sqlite3", "state.sqlite3-wal"]) {
      try {
        Deno.copyFileSync(`${directory}/${name}`, `${this.#copy.path}/${name}`);
      } catch (failure) {
        // Without a WAL, all of it is in the database.
        if (!(failure instanceof Deno.errors.NotFound)) throw failure;
      }
    }
    this.#database = new DatabaseSync(`${this.#copy.path}/state.sqlite3`);
  }

  /** The file is sound and every event is there, without a gap; one that was only made is empty. */
  requireSound(): void {
    if (this.#rows("SELECT 1 FROM sqlite_schema").length === 0) return;
    const [check] = this.#rows("PRAGMA integrity_check");
    assert.equal(Object.values(check ?? {})[0], "ok");
    assert.deepEqual(this.#rows("PRAGMA foreign_key_check"), []);
    const [counted] = this.#rows("SELECT count(*) AS n, max(sequence) AS last FROM events");
    assert.equal(counted?.["n"], counted?.["last"] ?? 0, "the sequence of events has a gap");
  }

  /** Every batch that was said to be committed is there, event by event. */
  requireAll(acknowledged: readonly Acknowledged[]): void {
    for (const { lastSequence, types } of acknowledged) {
      const rows = this.#rows(
        "SELECT type FROM events WHERE sequence > ? AND sequence <= ? ORDER BY sequence",
        lastSequence - types.length,
        lastSequence,
      );
      assert.deepEqual(rows.map((row) => row["type"]), types, "an acknowledged event is lost");
    }
  }

  /** Each recorded artifact has its content, whole. */
  async requireArtifacts(): Promise<number> {
    const rows = this.#rows("SELECT id, digest, size_bytes FROM artifacts");
    for (const row of rows) {
      const bytes = await Deno.readFile(`${this.#directory}/artifacts/${row["id"]}`);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
      assert.equal(digest, row["digest"]);
      assert.equal(bytes.length, row["size_bytes"]);
    }
    return rows.length;
  }

  operations(): readonly JudgedOperation[] {
    return this.#rows(
      "SELECT id, tool, scope, state, outcome, summary FROM operations ORDER BY requested_sequence",
    ) as unknown as readonly JudgedOperation[];
  }

  /** How many operations may have had an effect of this kind. */
  intents(asks: (scope: { readonly tool: string; readonly text: string }) => boolean): number {
    return this.operations().filter(({ tool, scope, state }) =>
      asks({ tool, text: scope }) && MAY_HAVE_HAPPENED.includes(state)
    ).length;
  }

  lastSequence(): number {
    return Number(this.#rows("SELECT last_sequence AS n FROM journal_head")[0]?.["n"]);
  }

  #rows(sql: string, ...values: number[]): readonly Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...values);
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.#copy[Symbol.dispose]();
  }
}
