import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { applyBatch } from "../../../src/runtime/storage/apply.ts";
import { prepareDataDirectory } from "../../../src/runtime/storage/data_directory.ts";
import { APPLICATION_ID, SCHEMA_STEPS } from "../../../src/runtime/storage/schema.ts";
import { Statements } from "../../../src/runtime/storage/statements.ts";
import { newId } from "../../support/ids.ts";
import { DIGEST, draft, drafts, startedTask, value } from "./_fixture.ts";

/** Bytes that the only artifact of an old journal claims to have. */
export const OLD_ARTIFACT_BYTES = 4_321;

/** A journal as version 1 left it: one session, one open attempt, one artifact. */
export function makeOldJournal(
  directory: string,
): { readonly path: string; readonly last: number } {
  const path = value(prepareDataDirectory(directory)).databasePath ?? assert.fail();
  const statements = new Statements(new DatabaseSync(path), path);
  statements.exec("PRAGMA journal_mode = WAL");
  statements.exec(SCHEMA_STEPS[0] ?? "");
  statements.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`);
  const { taskId, events } = startedTask();
  const artifact = {
    id: newId("artifact"),
    kind: "diff",
    digest: DIGEST,
    sizeBytes: OLD_ARTIFACT_BYTES,
    droppedBytes: 0,
  } as const;
  const last = applyBatch(statements, [
    ...drafts(...events),
    draft({ type: "artifact_recorded", artifact }, { taskId }),
  ]);
  statements.close();
  return { path, last };
}
