import type { Clock, Timers } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import type { Telemetry } from "../core/telemetry/telemetry.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { UserPaths } from "./config/paths.ts";
import type { WorkspaceIdentity } from "./consent/consent_store.ts";
import type { Adoption } from "./processes/owned_processes.ts";
import type { ChatAdapter } from "./providers/provider.ts";
import type { Store } from "./storage/client.ts";

/** What a host needs to know of its surroundings; nothing is read behind the caller's back. */
export interface HostOptions {
  /** The workspace root, resolved. */
  readonly identity: WorkspaceIdentity;
  readonly config: LoadedConfig;
  readonly userPaths: UserPaths;
  /** A variable of the environment; "denied" when this process may not read it. */
  readonly variable: (name: string) => string | null | "denied";
  readonly version: string;
  /** Whose the children of this process are that nobody accounts for. Default `proven`. */
  readonly adoption?: Adoption;
  readonly ports?: Partial<HostPorts>;
}

/** Edges that tests put something else in place of. */
export interface HostPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: IdSource;
  readonly telemetry: Telemetry;
  readonly adapter: ChatAdapter;
  /** Wraps the open store, for example to stop the process at a journal boundary. */
  readonly wrapStore: (store: Store) => Store;
}
