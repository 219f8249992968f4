import { readStatus, readTracking } from "../../runtime/git/repository.ts";
import { openGit } from "../../runtime/git/open_git.ts";
import { DATA_DIRECTORY } from "../../runtime/data_directory_name.ts";
import { systemClock, systemTimers } from "../../runtime/system_clock.ts";
import { startWorkspaceWorker } from "../../runtime/workspace/client.ts";
import { inspectDataDirectory, judgeDataDirectory } from "../../runtime/storage/data_directory.ts";
import { describeError } from "../../core/error_text.ts";
import type { FluzoError } from "../../core/errors.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { ConsentStore } from "../../runtime/consent/consent_store.ts";
import type { CommandInput } from "../command_line.ts";
import {
  commandContext,
  findUserPaths,
  loadFor,
  locate,
  type Location,
  readVariable,
} from "../composition.ts";
import { EXIT_CODES } from "../exit_codes.ts";
import { safeJson, safeText } from "../output/safe_text.ts";
import { installCommand, LOOPBACK_HOSTS } from "../permissions.ts";
import { VERSION } from "../version.ts";
import { failWith } from "./_finish.ts";

/** One thing that was looked at. */
interface Finding {
  readonly check: string;
  readonly state: "ok" | "problem" | "note";
  readonly detail: string;
  readonly remedy: string;
}

/** `fluzo doctor`: looks at the machine and the workspace. Contacts nothing. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const findings = [
    good("fluzo", `${VERSION} on Deno ${Deno.version.deno}, Linux ${Deno.build.arch}`),
    ...await checkFiles(location.value),
    ...await checkGit(location.value),
    ...await checkConfiguration(location.value),
  ];
  const problems = findings.filter(({ state }) => state === "problem").length;
  if (context.format === "text") {
    await context.stdout.write(
      findings.map((finding) => {
        const mark = finding.state === "ok" ? "ok" : finding.state === "note" ? "note" : "PROBLEM";
        const meaning = finding.state === "ok"
          ? "good"
          : finding.state === "note"
          ? "quiet"
          : "bad";
        const remedy = finding.remedy === "" ? "" : `\n         ${safeText(finding.remedy)}`;
        return `${context.style(meaning, mark.padEnd(8))} ${finding.check}: ${
          safeText(finding.detail)
        }${remedy}\n`;
      }).join(""),
    );
  } else await context.stdout.write(`${safeJson({ type: "doctor", findings })}\n`);
  return problems === 0 ? EXIT_CODES.ok : EXIT_CODES.workspace_error;
}

async function checkFiles({ root }: Location): Promise<Finding[]> {
  const worker = startWorkspaceWorker();
  try {
    const opened = await worker.call({ type: "open", root, protectedPaths: [] });
    return [
      opened.ok
        ? good("file tools", "openat2 and atomic exchange work here")
        : bad("file tools", opened.error),
    ];
  } finally {
    worker.close();
  }
}

async function checkGit({ root }: Location): Promise<Finding[]> {
  const git = await openGit({
    root,
    variable: readVariable,
    timers: systemTimers,
    clock: systemClock,
  });
  if (git === null) {
    return [{
      check: "git",
      state: "note",
      detail: "Git is not installed: no baseline, no diff of what commands change",
      remedy: "Install Git for a complete result",
    }];
  }
  const state = await readStatus(git, "folders");
  if (!state.ok) return [bad("git", state.error)];
  if (state.value.git === "none") {
    return [{
      check: "git",
      state: "note",
      detail: "this folder is no repository: the data directory is protected by its mode alone",
      remedy: "",
    }];
  }
  const what = state.value.git === "unborn" ? "repository without a commit" : "repository";
  const findings = [good("git", `${what}, ${state.value.entries.length} changed paths`)];
  const tracking = await readTracking(git, { path: DATA_DIRECTORY, filled: false });
  if (!tracking.ok) return [...findings, bad("data directory", tracking.error)];
  const directory = `${root}/${DATA_DIRECTORY}`;
  const refused = judgeDataDirectory({
    directory,
    userId: Deno.uid(),
    entries: [],
    git: tracking.value,
  });
  if (refused !== null) return [...findings, bad("data directory", refused)];
  const inspected = inspectDataDirectory(directory);
  return [
    ...findings,
    inspected.ok
      ? good("data directory", "private, and ignored by Git")
      : bad("data directory", inspected.error),
  ];
}

async function checkConfiguration(location: Location): Promise<Finding[]> {
  const config = await loadFor(location);
  if (!config.ok) return [bad("configuration", config.error)];
  const findings = [good("configuration", config.value.path)];
  const { settings } = config.value;
  const hosts: string[] = [];
  for (const [id, model] of Object.entries(settings.models)) {
    const url = new URL(model.provider === "openai_compatible" ? model.base_url : model.endpoint);
    const permission = Deno.permissions.querySync({ name: "net", host: url.host });
    if (permission.state === "granted") {
      findings.push(good(`models.${id}`, `${url.origin}, direct, without a proxy`));
    } else hosts.push(url.host);
  }
  if (hosts.length > 0) {
    findings.push({
      check: "network permission",
      state: "problem",
      detail: `this Fluzo may connect to ${LOOPBACK_HOSTS.join(", ")} only, not to ${
        hosts.join(", ")
      }`,
      remedy: `In a checkout of Fluzo, run: ${formatCommand(installCommand({ hosts }))}`,
    });
  }
  const variables = Object.values(settings.models).flatMap((model) =>
    model.api_key_env !== null && readVariable(model.api_key_env) === "denied"
      ? [model.api_key_env]
      : []
  );
  if (variables.length > 0) {
    findings.push({
      check: "environment permission",
      state: "problem",
      detail: `this Fluzo may not read ${variables.join(", ")}`,
      remedy: `In a checkout of Fluzo, run: ${formatCommand(installCommand({ variables }))}`,
    });
  }
  return [...findings, ...await checkConsent(location, settings)];
}

async function checkConsent(
  { identity }: Location,
  settings: Parameters<ConsentStore["status"]>[1],
): Promise<Finding[]> {
  const paths = findUserPaths();
  if (!paths.ok) return [bad("consent", paths.error)];
  const status = await new ConsentStore(paths.value.consent).status(identity, settings);
  switch (status.type) {
    case "granted":
      return [good("consent", "you agreed to exactly this configuration")];
    case "missing":
    case "changed":
    case "insecure":
      return [{
        check: "consent",
        state: "problem",
        detail: status.type === "changed"
          ? `the configuration changed since you agreed: ${status.changed.join(", ")}`
          : "you have not agreed to this configuration here",
        remedy: "Run `fluzo consent show`, then `fluzo consent grant`",
      }];
    case "unusable":
      return [{
        check: "consent",
        state: "problem",
        detail: `${status.problem.path} cannot be used`,
        remedy: status.problem.reason,
      }];
  }
}

function good(check: string, detail: string): Finding {
  return { check, state: "ok", detail, remedy: "" };
}

function bad(check: string, error: FluzoError): Finding {
  const { what, remedy } = describeError(error);
  return { check, state: "problem", detail: what, remedy };
}
