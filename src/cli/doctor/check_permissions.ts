import { findLibcPath } from "../../runtime/linux/libc.ts";
import { formatCommand } from "../../core/policy/command_scope.ts";
import { environmentNames, installCommand, LOOPBACK_HOSTS } from "../permissions.ts";
import { type Finding, good, note, problem } from "./finding.ts";

/** What this configuration needs of the runtime's permissions beyond what every one needs. */
export interface Wanted {
  /** Hosts of model servers, as `host` or `host:port`. */
  readonly hosts: readonly string[];
  /** Variables that hold keys or are passed to commands. */
  readonly variables: readonly string[];
}

/**
 * Compares what this process may do with what it needs. The remedy installs all that is wanted, so
 * that following it takes nothing away.
 */
export function checkPermissions({ hosts, variables }: Wanted): Finding[] {
  const further = hosts.filter((host) => !isLoopback(host));
  const missing = [
    ...needed().filter((descriptor) => !isGranted(descriptor)).map(nameOf),
    ...hosts.filter((host) => !isGranted({ name: "net", host })).map((host) => `net to ${host}`),
    ...variables.filter((variable) => !isGranted({ name: "env", variable }))
      .map((variable) => `env ${variable}`),
  ];
  const remedy = `In a checkout of Fluzo, run: deno task build && ${
    formatCommand(installCommand({ hosts: further, variables }))
  }`;
  if (missing.length > 0) {
    return [problem("permissions", `this Fluzo may not: ${missing.join(", ")}`, remedy)];
  }
  const excess = UNRESTRICTED.filter((name) => isGranted({ name }));
  return excess.length === 0
    ? [good("permissions", "exactly what Fluzo needs of the runtime")]
    : [note("permissions", `wider than needed: any ${excess.join(", any ")}`, remedy)];
}

/** Kinds that Fluzo only ever needs for named things. */
const UNRESTRICTED = ["net", "env", "ffi", "sys", "import"] as const;

function needed(): readonly Deno.PermissionDescriptor[] {
  const libc = findLibcPath();
  return [
    { name: "read" },
    { name: "write" },
    { name: "run" },
    { name: "sys", kind: "uid" },
    libc === null ? { name: "ffi" } : { name: "ffi", path: libc },
    ...LOOPBACK_HOSTS.map((host) => ({ name: "net", host }) as const),
    // A pattern such as FLUZO_* cannot be asked for; every other name can.
    ...environmentNames().filter((name) => !name.includes("*"))
      .map((variable) => ({ name: "env", variable }) as const),
  ];
}

function isGranted(descriptor: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(descriptor).state === "granted";
}

function nameOf(descriptor: Deno.PermissionDescriptor): string {
  switch (descriptor.name) {
    case "net":
      return `net to ${descriptor.host}`;
    case "env":
      return `env ${descriptor.variable}`;
    case "sys":
      return `sys ${descriptor.kind}`;
    case "read":
    case "write":
    case "run":
    case "ffi":
    case "import":
      return descriptor.name;
  }
}

function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.some((known) => host === known || host.startsWith(`${known}:`));
}
