import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { type FileSystem, fileSystemOf, isNetworkType } from "../../runtime/linux/file_system.ts";
import { findLibcPath } from "../../runtime/linux/libc.ts";
import { checkJournal } from "../../runtime/storage/check_journal.ts";
import {
  type GitFacts,
  inspectDataDirectory,
  judgeDataDirectory,
} from "../../runtime/storage/data_directory.ts";
import { namesLivingProcess, readOwnerRecord } from "../../runtime/workspace/owner_record.ts";
import { isOwned } from "../../runtime/workspace/ownership.ts";
import { formatSize } from "../output/size.ts";
import { failure, type Finding, good, note, problem } from "./finding.ts";

/** Looks at the private data of a workspace: where it is, whether it is whole, and who works on it. */
export async function checkData(
  root: string,
  tracking: GitFacts | null,
): Promise<readonly Finding[]> {
  if (findLibcPath() === null) {
    return [note("data directory", "not looked at: that needs the C library")];
  }
  const directory = `${root}/${DATA_DIRECTORY}`;
  const space = checkSpace(fileSystemOf(root));
  const refused = judgeDataDirectory({
    directory,
    userId: Deno.uid(),
    entries: [],
    git: tracking,
  });
  if (refused !== null) return [...space, failure("data directory", refused)];
  const inspected = inspectDataDirectory(directory);
  if (!inspected.ok) return [...space, failure("data directory", inspected.error)];
  const { databasePath } = inspected.value;
  if (databasePath === null) {
    return [...space, good("data directory", "not there yet: the first task makes it")];
  }
  return [
    ...space,
    good("data directory", tracking === null ? "private" : "private, and ignored by Git"),
    await checkDatabase(databasePath),
    checkOwner(directory),
  ];
}

function checkSpace({ type, mountPoint, availableBytes, totalBytes }: FileSystem): Finding[] {
  const where = `${type} at ${mountPoint}, ${formatSize(availableBytes)} of ` +
    `${formatSize(totalBytes)} free`;
  return [
    isNetworkType(type)
      ? problem(
        "file system",
        `${where}: a journal on a network file system cannot be trusted`,
        "Keep the working tree on a disk of this machine",
      )
      : good("file system", where),
  ];
}

async function checkDatabase(path: string): Promise<Finding> {
  const bad = await checkJournal(path);
  return bad === null
    ? good("journal", `whole, ${formatSize(sizeOf(path) + sizeOf(`${path}-wal`))}`)
    : failure("journal", bad);
}

function checkOwner(directory: string): Finding {
  const record = readOwnerRecord(directory);
  if (!isOwned(directory)) {
    return record === null ? good("owner", "nobody works here now") : note(
      "owner",
      `nobody works here now; process ${record.pid} ended without finishing`,
      "The next task says what it left; `fluzo task list` shows it",
    );
  }
  if (record === null || !namesLivingProcess(record)) {
    return note("owner", "another Fluzo works here, and does not say which process it is");
  }
  const since = new Date(record.startedWallMs).toISOString();
  const task = record.task === null ? "" : ` on task ${record.task}`;
  return note(
    "owner",
    `process ${record.pid} works here since ${since}${task}`,
    record.task === null ? "" : `\`fluzo task cancel ${record.task}\` ends it`,
  );
}

function sizeOf(path: string): number {
  try {
    return Deno.lstatSync(path).size;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return 0;
    throw thrown;
  }
}
