import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { listAside } from "../../runtime/storage/set_aside.ts";
import type { CommandInput } from "../command_line.ts";
import { commandContext, locate } from "../composition.ts";
import { formatSize } from "../output/size.ts";
import { failWith, succeedWith } from "./_finish.ts";
import { describeLeftovers, sessionLine } from "./_history.ts";
import { openInspection } from "./_inspection.ts";
import { PAGE, readPages } from "./_pages.ts";

/** `fluzo history list`: what is kept, and what it takes up. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const read = await readPages(
    (cursor) => journal.query({ type: "list_history", cursor, limit: PAGE }),
    { all: flags.has("all") },
  );
  if (!read.ok) return await failWith(context, read.error);
  const use = await journal.query({ type: "show_storage" });
  if (!use.ok) return await failWith(context, use.error);
  const found = await journal.query({ type: "find_leftovers" });
  // A task at work may be writing what would look like one.
  if (!found.ok && found.error.type === "storage" && found.error.reason !== "busy") {
    return await failWith(context, found.error);
  }
  const leftovers = found.ok ? found.value : null;
  const aside = listAside(`${location.value.root}/${DATA_DIRECTORY}`);
  const { items: sessions, more } = read.value;
  const { journalBytes, artifactBytes, waiting } = use.value;
  return await succeedWith(context, {
    text: [
      sessions.length === 0 ? "There is no session in this workspace yet.\n" : "",
      ...sessions.map(sessionLine),
      more ? "There are more: fluzo history list --all\n" : "",
      `In all: journal ${formatSize(journalBytes)}, artifacts ${formatSize(artifactBytes)}\n`,
      waiting.files === 0
        ? ""
        : `Files of deleted sessions, still to be removed: ${waiting.files} ` +
          `(${formatSize(waiting.bytes)}); the next task tries again\n`,
      ...(leftovers === null ? [] : describeLeftovers(leftovers)),
      ...aside.map((name) => `Set aside as damaged: ${DATA_DIRECTORY}/${name}\n`),
    ].join(""),
    json: { type: "history", sessions, more, storage: use.value, leftovers, aside },
  });
}
