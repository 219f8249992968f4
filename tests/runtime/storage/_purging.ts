/**
 * Deletes a session and kills itself on the way. Arguments: database file; folder of the artifacts;
 * the `history_purged` event as JSON; files removed before the end, 0 for before the first.
 */
import { applyBatch } from "../../../src/runtime/storage/apply.ts";
import { openWriter } from "../../../src/runtime/storage/database.ts";
import { removePurged } from "../../../src/runtime/storage/history_files.ts";
import { drafts } from "./_fixture.ts";

const [path = "", artifactsPath = "", event = "", files = ""] = Deno.args;
const statements = await openWriter(path, { availableBytes: null });
applyBatch(statements, drafts(JSON.parse(event)));
let left = Number(files);
if (left === 0) die();
removePurged(statements, {
  artifactsPath,
  afterFile: () => {
    left--;
    if (left === 0) die();
  },
});

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  while (true);
}
