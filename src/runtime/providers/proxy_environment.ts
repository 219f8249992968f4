/** The variables by which the platform would send requests through a proxy nobody agreed to. */
export const PROXY_VARIABLES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
] as const;

/**
 * Removes the proxy variables from this process. It must run before the first request: the
 * platform reads them once.
 */
export function removeProxyVariables(): void {
  for (const name of PROXY_VARIABLES) Deno.env.delete(name);
}
