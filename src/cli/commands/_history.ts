import type { SessionContents } from "../../core/events/event.ts";
import type { FileCount, Leftovers, SessionHistory } from "../../core/port/read_models.ts";
import { safeText } from "../output/safe_text.ts";
import { formatSize } from "../output/size.ts";

/** A session on one line. */
export function sessionLine({ id, title, createdWallMs, contents }: SessionHistory): string {
  const when = new Date(createdWallMs).toISOString().slice(0, 16).replace("T", " ");
  return `${id}  ${when}  ${describeContents(contents)}  ${safeText(title).trim()}\n`;
}

/** What a session holds, in words. */
export function describeContents(contents: SessionContents): string {
  const { tasks, messages, events, textBytes, artifacts, artifactBytes } = contents;
  return `${plural(tasks, "task")}, ${plural(messages, "message")} (${formatSize(textBytes)}), ` +
    `${plural(events, "event")}, ${plural(artifacts, "artifact")} (${formatSize(artifactBytes)})`;
}

/** Files that no record needs, one line a kind. */
export function describeLeftovers({ unrecorded, backups }: Leftovers): readonly string[] {
  return [
    ...line(unrecorded, "that no record refers to"),
    ...line(backups, "with the whole journal from before a migration"),
  ];
}

function line({ files, bytes }: FileCount, what: string): string[] {
  return files === 0 ? [] : [`${plural(files, "file")} ${what} (${formatSize(bytes)})\n`];
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
