import type { FluzoError } from "../../core/errors.ts";
import { formatCommand, parseCommandLine } from "../../core/policy/command_scope.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { parse } from "smol-toml";
import { validateSettings } from "../../core/settings/validate.ts";
import { generateConfig, type InitChoices } from "../../runtime/config/generate.ts";
import { tomlPlaces } from "../../runtime/config/toml_places.ts";
import { writePrivateFile } from "../../runtime/consent/private_file.ts";
import { addExclude } from "../../runtime/git/exclude.ts";
import type { Git } from "../../runtime/git/git_command.ts";
import { openGit } from "../../runtime/git/open_git.ts";
import { readTracking } from "../../runtime/git/repository.ts";
import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { systemClock, systemTimers } from "../../runtime/system_clock.ts";
import type { CommandInput, ParsedFlags } from "../command_line.ts";
import {
  commandContext,
  findUserPaths,
  locate,
  type Location,
  readVariable,
} from "../composition.ts";
import { failWith, succeedWith } from "./_finish.ts";

/** The line that keeps the data directory out of commits. */
const EXCLUDE_LINE = `/${DATA_DIRECTORY}/`;

const DEFAULT_CONTEXT_WINDOW = 32_768;

/** `fluzo init`: writes `.fluzo` and keeps the data directory out of Git. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const choices = readChoices(flags, location.value);
  if (!choices.ok) return await failWith(context, choices.error);
  const text = generateConfig(choices.value);
  const checked = check(text, location.value.configPath);
  if (!checked.ok) return await failWith(context, checked.error);
  const written = await writeConfig(location.value.configPath, { text, replace: flags.has("yes") });
  if (!written.ok) return await failWith(context, written.error);
  const { root } = location.value;
  const git = await openGit({
    root,
    variable: readVariable,
    timers: systemTimers,
    clock: systemClock,
  });
  const excluded = await keepOutOfGit(git, flags.has("yes"));
  if (!excluded.ok) return await failWith(context, excluded.error);
  return await succeedWith(context, {
    text: [
      `Wrote ${location.value.configPath}`,
      ...(written.value === null ? [] : [`The file that was there is kept in ${written.value}`]),
      ...excluded.value.lines,
      'Next: `fluzo consent show`, `fluzo consent grant`, then `fluzo run "..."`',
      "",
    ].join("\n"),
    json: {
      type: "init",
      config: location.value.configPath,
      backup: written.value,
      excluded: excluded.value.done,
    },
  });
}

function readChoices(flags: ParsedFlags, { root }: Location): Result<InitChoices, FluzoError> {
  const baseUrl = flags.text("base-url");
  const model = flags.text("model");
  if (baseUrl === null || model === null) {
    return usage(
      `Missing --${baseUrl === null ? "base-url" : "model"}`,
      "For example: fluzo init --base-url http://127.0.0.1:8080/v1 --model NAME",
    );
  }
  const window = flags.text("context-window");
  if (window !== null && !/^\d+$/.test(window)) {
    return usage(`Invalid --context-window "${window}": not a whole number`, "Give tokens");
  }
  const verify = flags.text("verify");
  const verification = verify === null ? ok([]) : parseCommandLine(verify);
  if (!verification.ok) {
    return usage(`Cannot use --verify "${verify}": ${verification.error}`, "Give one program");
  }
  return ok({
    projectName: root.slice(root.lastIndexOf("/") + 1) || "project",
    baseUrl,
    model,
    contextWindow: window === null ? DEFAULT_CONTEXT_WINDOW : Number(window),
    apiKeyEnv: flags.text("api-key-env"),
    verification: verification.value,
  });
}

/** A file that would not load is never written. */
function check(text: string, path: string): Result<null, FluzoError> {
  const validated = validateSettings(parse(text), tomlPlaces(text));
  return validated.ok
    ? ok(null)
    : err({ type: "configuration_invalid", path, problems: validated.error });
}

/** Writes the file; what is there is replaced only when that was confirmed, and kept aside. */
async function writeConfig(
  path: string,
  { text, replace }: { readonly text: string; readonly replace: boolean },
): Promise<Result<string | null, FluzoError>> {
  try {
    await Deno.writeTextFile(path, text, { createNew: true, mode: 0o644 });
    return ok(null);
  } catch (failure) {
    if (failure instanceof Deno.errors.PermissionDenied) {
      return usage(`Cannot write "${path}": permission denied`, "Check the folder");
    }
    if (!(failure instanceof Deno.errors.AlreadyExists)) throw failure;
  }
  const info = await Deno.lstat(path);
  if (!info.isFile) {
    return usage(`Cannot write "${path}": it is not a regular file`, "Move it away first");
  }
  if (!replace) {
    return err({ type: "confirmation_required", action: `replacing "${path}"`, flag: "--yes" });
  }
  const backup = await backUp(path);
  if (!backup.ok) return backup;
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  await Deno.writeTextFile(temporary, text, { createNew: true, mode: info.mode ?? 0o644 });
  await Deno.rename(temporary, path);
  return backup;
}

/** A byte-exact, private copy in the user's own state folder. */
async function backUp(path: string): Promise<Result<string, FluzoError>> {
  const paths = findUserPaths();
  if (!paths.ok) return paths;
  const stamp = new Date(systemClock.wallMs()).toISOString().replaceAll(":", "-");
  const name = path.replaceAll("/", "%");
  const backup = `${paths.value.backups}/${stamp}${name}`;
  await writePrivateFile(backup, await Deno.readFile(path));
  return ok(backup);
}

async function keepOutOfGit(
  git: Git | null,
  confirmed: boolean,
): Promise<Result<{ readonly lines: readonly string[]; readonly done: boolean }, FluzoError>> {
  const tracking = await readTracking(git, { path: DATA_DIRECTORY, filled: false });
  if (!tracking.ok) return tracking;
  if (tracking.value === null || git === null) {
    const line = "This is no Git repository: the data directory is protected by its mode alone";
    return ok({ lines: [line], done: false });
  }
  if (tracking.value.tracked) {
    return err({
      type: "storage",
      reason: "tracked_by_git",
      path: DATA_DIRECTORY,
      detail: "",
    });
  }
  if (tracking.value.ignored) return ok({ lines: [], done: true });
  if (!confirmed) {
    return ok({
      lines: [
        `Git does not ignore ${EXCLUDE_LINE} yet, and Fluzo stores nothing until it does:`,
        `  fluzo init --yes, or: echo ${formatCommand([EXCLUDE_LINE])} >> .git/info/exclude`,
      ],
      done: false,
    });
  }
  const added = await addExclude(git, EXCLUDE_LINE);
  return added.ok
    ? ok({ lines: [`Added ${EXCLUDE_LINE} to .git/info/exclude`], done: true })
    : added;
}

function usage(message: string, hint: string): Result<never, FluzoError> {
  return err({ type: "usage", message, hint });
}
