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
export const LIBC_PATHS = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"] as const;

/** Variables Fluzo reads for itself. */
export const OWN_ENVIRONMENT = [
  "FLUZO_*",
  "HOME",
  "NO_COLOR",
  "TERM",
  "COLORTERM",
  "XDG_CONFIG_HOME",
  "XDG_STATE_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_CACHE_HOME",
  "INIT_CWD",
] as const;

/** Variables that are deleted before the first request, so that no proxy is used unseen. */
export const PROXY_ENVIRONMENT = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
] as const;
