import { openStore } from "../../../src/runtime/storage/client.ts";
import { newId } from "../../support/ids.ts";
import { draft, value } from "./_fixture.ts";

/**
 * A process that appends batches without end and says after each acknowledgement up to where. Its
 * batches are three sessions with one title, so half a batch would be seen.
 */
export const BATCH = 3;

/** Batches under way at once: the kill finds some before, some in and some after their commit. */
const DEPTH = 4;

async function appendForever(directory: string): Promise<void> {
  const options = { directory, mode: "write", ownerAlive: () => true } as const;
  const store = value(await openStore(options).opened);
  const encoder = new TextEncoder();
  const writer = async (): Promise<void> => {
    for (;;) {
      const title = newId("command");
      const batch = Array.from(
        { length: BATCH },
        () => draft({ type: "session_created", sessionId: newId("session"), title }),
      );
      const { lastSequence } = value(await store.append(batch));
      Deno.stdout.writeSync(encoder.encode(`${title} ${lastSequence}\n`));
    }
  };
  await Promise.all(Array.from({ length: DEPTH }, writer));
}

const [directory] = Deno.args;
if (import.meta.main && directory !== undefined) await appendForever(directory);
