import type { CommandInput } from "../command_line.ts";
import { type CommandContext, commandContext, locate, terminalFacts } from "../composition.ts";
import { checkConfiguration } from "../doctor/check_configuration.ts";
import { checkData } from "../doctor/check_data.ts";
import { checkGit } from "../doctor/check_git.ts";
import { checkKernel } from "../doctor/check_kernel.ts";
import { checkPermissions } from "../doctor/check_permissions.ts";
import { judgeTerminal } from "../doctor/check_terminal.ts";
import { type Finding, good } from "../doctor/finding.ts";
import { EXIT_CODES } from "../exit_codes.ts";
import { safeJson, safeText } from "../output/safe_text.ts";
import type { Meaning } from "../output/style.ts";
import { VERSION } from "../version.ts";
import { failWith } from "./_finish.ts";

/** `fluzo doctor`: looks at the machine and the workspace. Contacts nothing, changes nothing. */
export async function run({ flags }: CommandInput): Promise<number> {
  const context = commandContext(flags);
  const location = await locate(flags);
  if (!location.ok) return await failWith(context, location.error);
  const { root } = location.value;
  const git = await checkGit(root);
  const configuration = await checkConfiguration(location.value);
  const findings = [
    good("fluzo", `${VERSION} on Deno ${Deno.version.deno}, ${Deno.build.arch}`),
    ...checkKernel(root),
    ...checkPermissions(configuration.wanted),
    ...judgeTerminal(terminalFacts()),
    ...git.findings,
    ...await checkData(root, git.tracking),
    ...configuration.findings,
  ];
  await print(context, findings);
  return findings.some(({ state }) => state === "problem")
    ? EXIT_CODES.workspace_error
    : EXIT_CODES.ok;
}

const MARKS: Readonly<Record<Finding["state"], { readonly word: string; readonly as: Meaning }>> = {
  ok: { word: "ok", as: "good" },
  note: { word: "note", as: "quiet" },
  problem: { word: "PROBLEM", as: "bad" },
};

async function print(context: CommandContext, findings: readonly Finding[]): Promise<void> {
  if (context.format !== "text") {
    await context.stdout.write(`${safeJson({ type: "doctor", findings })}\n`);
    return;
  }
  const lines = findings.map(({ check, state, detail, remedy }) => {
    const mark = context.style(MARKS[state].as, MARKS[state].word.padEnd(8));
    const what = `${mark} ${check}: ${safeText(detail)}\n`;
    return remedy === "" ? what : `${what}         ${safeText(remedy)}\n`;
  });
  await context.stdout.write(lines.join(""));
}
