import { safetyReserve } from "../budget/estimate.ts";
import { parseExecGrant } from "../policy/grant_request.ts";
import type { ModelSettings, Settings } from "./registry.ts";
import { VARIABLE_NAME } from "./setting.ts";

/** A problem between settings that are each fine alone. */
export interface TogetherProblem {
  readonly path: readonly string[];
  readonly reason: string;
}

/** Rules over several settings. */
export function checkTogether(settings: Settings): readonly TogetherProblem[] {
  return [
    ...checkReferences(settings),
    ...Object.entries(settings.models).flatMap(([id, model]) =>
      checkModel(settings, { id, model })
    ),
    ...Object.entries(settings.capacity_pools).flatMap(([id, pool]) =>
      pool.foreground_reserved_slots > pool.max_in_flight
        ? [{
          path: ["capacity_pools", id, "foreground_reserved_slots"],
          reason: "must not be more than max_in_flight",
        }]
        : []
    ),
    ...checkCommands(settings),
    ...(settings.context.tool_context_max_bytes > settings.context.tool_capture_max_bytes
      ? [{
        path: ["context", "tool_context_max_bytes"],
        reason: "must not be more than tool_capture_max_bytes",
      }]
      : []),
  ];
}

function checkReferences({ agent, models, decision }: Settings): TogetherProblem[] {
  const problems: TogetherProblem[] = [];
  const main = own(models, agent.model);
  if (main === null) {
    problems.push({ path: ["agent", "model"], reason: `names no model: ${listOf(models)}` });
  } else if (main.provider !== "openai_compatible") {
    problems.push({ path: ["agent", "model"], reason: "must name a model that can chat" });
  }
  if (!decision.enabled) return problems;
  const observer = decision.model === null ? null : own(models, decision.model);
  if (observer === null || observer.provider !== "laya_systemone") {
    problems.push({
      path: ["decision", "model"],
      reason: "must name a laya_systemone model when decision.enabled is true",
    });
  }
  return problems;
}

function checkModel(
  { capacity_pools: pools, harness }: Settings,
  { id, model }: { readonly id: string; readonly model: ModelSettings },
): TogetherProblem[] {
  const at = (key: string): string[] => ["models", id, key];
  const problems: TogetherProblem[] = [];
  if (model.auth === "env" && model.api_key_env === null) {
    problems.push({ path: at("api_key_env"), reason: 'is missing: auth is "env"' });
  }
  if (model.auth !== "env" && model.api_key_env !== null) {
    problems.push({ path: at("api_key_env"), reason: 'has no effect unless auth is "env"' });
  }
  if (model.auth === "credential" && model.credential_ref === null) {
    problems.push({ path: at("credential_ref"), reason: 'is missing: auth is "credential"' });
  }
  if (model.auth !== "credential" && model.credential_ref !== null) {
    problems.push({
      path: at("credential_ref"),
      reason: 'has no effect unless auth is "credential"',
    });
  }
  if (model.pool !== null && own(pools, model.pool) === null) {
    problems.push({ path: at("pool"), reason: `names no pool: ${listOf(pools)}` });
  }
  if (model.provider !== "openai_compatible") return problems;
  const used = model.max_output_tokens + safetyReserve(model.context_window);
  if (used >= model.context_window) {
    problems.push({
      path: at("max_output_tokens"),
      reason: `leaves no room for input: with the safety reserve it takes ${used} of ` +
        `${model.context_window} tokens`,
    });
  }
  if (model.max_output_tokens >= harness.max_total_tokens) {
    problems.push({
      path: at("max_output_tokens"),
      reason: "must be less than harness.max_total_tokens",
    });
  }
  for (const key of ["first_output_seconds", "idle_seconds"] as const) {
    if (model.timeouts[key] > model.timeouts.request_seconds) {
      problems.push({
        path: ["models", id, "timeouts", key],
        reason: "must not be more than request_seconds",
      });
    }
  }
  return problems;
}

function checkCommands({ verify, tools, policy }: Settings): TogetherProblem[] {
  const problems: TogetherProblem[] = [];
  if (verify.command.length > 0 && verify.command[0]?.trim() === "") {
    problems.push({ path: ["verify", "command"], reason: "must begin with a program" });
  }
  for (const text of policy.allow_exec) {
    const parsed = parseExecGrant(text);
    if (parsed.ok) continue;
    problems.push({
      path: ["policy", "allow_exec"],
      reason: `"${text}" is no command that can be allowed: ${parsed.error}`,
    });
  }
  for (const name of [...tools.shell.inherit_env, ...Object.keys(tools.shell.env)]) {
    if (VARIABLE_NAME.matches(name)) continue;
    problems.push({ path: ["tools", "shell"], reason: `"${name}" is not a variable name` });
  }
  return problems;
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | null {
  return Object.hasOwn(table, key) ? table[key] ?? null : null;
}

function listOf(table: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(table);
  return names.length === 0 ? "there is none" : `there is ${names.join(", ")}`;
}
