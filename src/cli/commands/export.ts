import type { FluzoError } from "../../core/errors.ts";
import { describeError } from "../../core/error_text.ts";
import { parseId, type SessionId } from "../../core/ids.ts";
import type { OperationDetail, SessionSummary, TaskDetail } from "../../core/port/read_models.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { createRedactor } from "../../core/text/redactor.ts";
import { knownSecrets } from "../../runtime/consent/known_secrets.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import {
  type CommandContext,
  commandContext,
  findUserPaths,
  loadFor,
  locate,
  readVariable,
} from "../composition.ts";
import { EXIT_CODES } from "../exit_codes.ts";
import { safeJson } from "../output/safe_text.ts";
import { messageSection, sessionHead, taskSection } from "../output/session_markdown.ts";
import { failWith } from "./_finish.ts";
import { type Inspection, openInspection } from "./_inspection.ts";
import { PAGE, pages, readOperations, readPages, readTasksOf } from "./_pages.ts";

/** Version of the JSON that an export is. */
const EXPORT_SCHEMA_VERSION = 1;

/** Takes the known keys out of every text of a value. */
type Redact = <T>(value: T) => T;

/** `fluzo export ID`: writes a whole session, page by page, and changes nothing. */
export async function run({ positionals, flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const name = positionals[0] ?? "";
  const sessionId = parseId("session", name);
  if (sessionId === null) {
    return await failWith(context, { type: "not_found", what: "session", id: name });
  }
  const redact = await redaction(context, flags);
  const inspection = await openInspection(flags);
  if (!inspection.ok) return await failWith(context, inspection.error);
  await using journal = inspection.value;
  const session = await findSession(journal, sessionId);
  if (!session.ok) return await failWith(context, session.error);
  const write = context.format === "text" ? markdown(context, redact) : json(context, redact);
  const written = await writeSession(journal, { session: session.value, write });
  return written.ok ? EXIT_CODES.ok : await failWith(context, written.error);
}

/** Where an export goes; the calls come in the order of the fields. */
interface ExportWriter {
  begin(session: SessionSummary): Promise<void>;
  task(task: TaskDetail, operations: readonly OperationDetail[]): Promise<void>;
  messages(): Promise<void>;
  message(message: Parameters<typeof messageSection>[0]): Promise<void>;
  end(): Promise<void>;
}

function markdown({ stdout }: CommandContext, redact: Redact): ExportWriter {
  return {
    begin: (session) => stdout.write(sessionHead(redact(session))),
    task: (task, operations) => stdout.write(taskSection(redact(task), redact(operations))),
    messages: () => stdout.write("\n## Conversation\n"),
    message: (message) => stdout.write(messageSection(redact(message))),
    end: () => Promise.resolve(),
  };
}

/** One document with an entry a line: it is written as it is read, whatever its size. */
function json({ stdout }: CommandContext, redact: Redact): ExportWriter {
  let comma = "";
  const item = (value: unknown): Promise<void> => {
    const line = `${comma}\n${safeJson(redact(value))}`;
    comma = ",";
    return stdout.write(line);
  };
  return {
    begin: (session) =>
      stdout.write(
        `{"type":"export","schema_version":${EXPORT_SCHEMA_VERSION},` +
          `"session":${safeJson(redact(session))},"tasks":[`,
      ),
    task: (task, operations) => item({ task, operations }),
    messages: () => {
      comma = "";
      return stdout.write('\n],"messages":[');
    },
    message: item,
    end: () => stdout.write("\n]}\n"),
  };
}

async function writeSession(
  journal: Inspection,
  { session, write }: { readonly session: SessionSummary; readonly write: ExportWriter },
): Promise<Result<null, FluzoError>> {
  const { id: sessionId } = session;
  await write.begin(session);
  const tasks = await readTasksOf(journal, sessionId);
  if (!tasks.ok) return tasks;
  for (const { id: taskId } of tasks.value.toReversed()) {
    const task = await journal.query({ type: "show_task", taskId });
    if (!task.ok) return task;
    const operations = await readOperations(journal, taskId);
    if (!operations.ok) return operations;
    await write.task(task.value, operations.value);
  }
  await write.messages();
  const ask = (cursor: string | null) =>
    journal.query({ type: "page_session", sessionId, cursor, limit: PAGE });
  for await (const page of pages(ask)) {
    if (!page.ok) return page;
    for (const message of page.value.items) await write.message(message);
  }
  await write.end();
  return ok(null);
}

async function findSession(
  journal: Inspection,
  id: SessionId,
): Promise<Result<SessionSummary, FluzoError>> {
  const read = await readPages(
    (cursor) => journal.query({ type: "list_sessions", cursor, limit: PAGE }),
    { all: true },
  );
  if (!read.ok) return read;
  const found = read.value.items.find((session) => session.id === id);
  return found === undefined ? err({ type: "not_found", what: "session", id }) : ok(found);
}

/**
 * Keys that can be had now are taken out once more. They were taken out when the journal was
 * written; one that came in as an ordinary word before it was a key was not.
 */
async function redaction(context: CommandContext, flags: ParsedFlags): Promise<Redact> {
  const location = await locate(flags);
  const config = location.ok ? await loadFor(location.value) : location;
  const paths = findUserPaths();
  if (!config.ok) {
    await context.stderr.write(
      `Note: no keys were looked for: ${describeError(config.error).what}\n`,
    );
    return (value) => value;
  }
  const redactor = createRedactor(
    await knownSecrets(config.value.settings, {
      configPath: config.value.path,
      authPath: paths.ok ? paths.value.credentials : null,
      variable: readVariable,
    }),
  );
  return (value) =>
    JSON.parse(
      JSON.stringify(value, (_, part) => typeof part === "string" ? redactor.redact(part) : part),
    );
}
