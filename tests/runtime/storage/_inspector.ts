import { openStore } from "../../../src/runtime/storage/client.ts";
import { value } from "./_fixture.ts";

/** Opens the store of a folder for inspection and prints what it sees, as JSON. */
async function inspect(directory: string): Promise<void> {
  const options = { directory, mode: "read", ownerAlive: () => false } as const;
  const store = value(await openStore(options).opened);
  const titles = value(await store.sessions(null, 9)).items.map((item) => item.title);
  const { copied } = store;
  await store.close();
  const left = [...Deno.readDirSync(Deno.env.get("TMPDIR") ?? "/tmp")].length;
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ titles, copied, left })));
}

const [directory] = Deno.args;
if (import.meta.main && directory !== undefined) await inspect(directory);
