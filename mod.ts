/**
 * Fluzo as a library: start a runtime host on a workspace and talk to it through the application
 * port.
 *
 * ```ts ignore
 * import { findWorkspaceRoot, loadConfig, openHost, userPaths, workspaceIdentity } from "./mod.ts";
 *
 * const root = await findWorkspaceRoot(".");
 * const config = await loadConfig(`${root}/.fluzo`, []);
 * const paths = userPaths({ home: Deno.env.get("HOME") ?? null, configHome: null, stateHome: null });
 * if (!config.ok || paths === null) throw new Error("Not set up");
 * const host = await openHost({
 *   identity: await workspaceIdentity(root),
 *   config: config.value,
 *   userPaths: paths,
 *   variable: (name) => Deno.env.get(name) ?? null,
 *   version: "my-program",
 * });
 * if (!host.ok) throw new Error(describeError(host.error).what);
 * // host.value.port.execute({ type: "start_task", ... })
 * await host.value.shutdown("user");
 * ```
 *
 * @module
 */
export { describeError } from "./src/core/error_text.ts";
export type { FluzoError } from "./src/core/errors.ts";
export type { TaskResult } from "./src/core/events/event.ts";
export type { CommandId, SessionId, TaskId } from "./src/core/ids.ts";
export type { GrantRequest } from "./src/core/policy/grant_request.ts";
export type {
  ApplicationPort,
  Command,
  CommandReplies,
  Query,
  QueryReplies,
  Subscription,
  Update,
} from "./src/core/port/application.ts";
export type {
  OperationDetail,
  Page,
  TaskDetail,
  TaskSummary,
} from "./src/core/port/read_models.ts";
export type { Result } from "./src/core/result.ts";
export { findWorkspaceRoot } from "./src/runtime/config/find_workspace.ts";
export { loadConfig, type LoadedConfig } from "./src/runtime/config/load.ts";
export { type UserPaths, userPaths } from "./src/runtime/config/paths.ts";
export { ConsentStore, type WorkspaceIdentity } from "./src/runtime/consent/consent_store.ts";
export { type Host, openHost } from "./src/runtime/host.ts";
export type { HostOptions, HostPorts } from "./src/runtime/host_options.ts";
export { randomIds } from "./src/runtime/random_ids.ts";
export { systemClock } from "./src/runtime/system_clock.ts";
export { workspaceIdentity } from "./src/runtime/workspace/identity.ts";
