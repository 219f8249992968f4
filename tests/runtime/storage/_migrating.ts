/** Migrates a journal and kills itself there. Arguments: database file; a `MigrationPoint`. */
import { openWriter } from "../../../src/runtime/storage/database.ts";

const [path = "", end = ""] = Deno.args;
await openWriter(path, {
  availableBytes: null,
  at: (point) => {
    if (point !== end) return;
    Deno.kill(Deno.pid, "SIGKILL");
    while (true);
  },
});
