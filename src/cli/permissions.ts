import { BASELINE_VARIABLES } from "../runtime/processes/environment.ts";
import { PROXY_VARIABLES } from "../runtime/providers/proxy_environment.ts";

/**
 * The Deno permissions Fluzo runs with, spelled out once: the install command, the development and
 * the compile task are generated from here and a test compares them. Why each is needed, and what
 * it does not stop, is in `docs/security.md`.
 */

/** Hosts reachable without a reinstall: this machine. */
export const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"] as const;

/** Cloud metadata services: never, whatever else is allowed. */
const METADATA_HOSTS = [
  "169.254.169.254",
  "[fd00:ec2::254]",
  "metadata.google.internal",
  "100.100.100.200",
] as const;

/** Where libc is on the supported systems; a bare name is not accepted by the runtime. */
const LIBC_PATHS = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"] as const;

/** Variables Fluzo reads for itself. */
const OWN_VARIABLES = [
  "FLUZO_*",
  "NO_COLOR",
  "TERM",
  "COLORTERM",
  "XDG_RUNTIME_DIR",
  "INIT_CWD",
] as const;

/** The variables this process may read, each once, sorted. */
export function environmentNames(): readonly string[] {
  return [...new Set<string>([...OWN_VARIABLES, ...BASELINE_VARIABLES, ...PROXY_VARIABLES])].sort();
}

/**
 * The permission flags of every way to run Fluzo.
 *
 * @param hosts Further hosts, as `host` or `host:port`.
 * @param variables Further environment variables: an `api_key_env`, an `inherit_env`.
 */
export function permissionFlags(
  { hosts = [], variables = [] }: {
    readonly hosts?: readonly string[];
    readonly variables?: readonly string[];
  } = {},
): readonly string[] {
  return [
    "--no-prompt",
    "--unstable-worker-options",
    "--allow-read",
    "--allow-write",
    "--allow-run",
    `--allow-net=${[...LOOPBACK_HOSTS, ...hosts].join(",")}`,
    `--deny-net=${METADATA_HOSTS.join(",")}`,
    `--allow-env=${[...environmentNames(), ...variables].join(",")}`,
    "--allow-sys=uid",
    `--allow-ffi=${LIBC_PATHS.join(",")}`,
  ];
}

/** The bundles that are installed: the program and its two workers, by their source. */
export const BUNDLES = {
  "build/fluzo.js": "src/cli/main.ts",
  "build/store_worker.js": "src/runtime/storage/store_worker.ts",
  "build/workspace_worker.js": "src/runtime/workspace/workspace_worker.ts",
} as const;

/** The commands that make the bundles: one file loads in a third of the time that 180 take. */
export function buildCommands(): readonly (readonly string[])[] {
  return Object.entries(BUNDLES).map(([output, source]) => [
    "deno",
    "bundle",
    "--quiet",
    "--frozen",
    "--platform=deno",
    `--output=${output}`,
    source,
  ]);
}

/**
 * The command that installs the bundles as a global `fluzo`. They need no configuration and no
 * packages any more.
 */
export function installCommand(
  options: Parameters<typeof permissionFlags>[0] = {},
): readonly string[] {
  return [
    "deno",
    "install",
    "--global",
    "--force",
    "--no-config",
    "--name=fluzo",
    ...permissionFlags(options),
    "build/fluzo.js",
  ];
}
