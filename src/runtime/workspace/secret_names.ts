/**
 * Names that usually hold secrets. Listing and searching leave them out, so that no secret reaches
 * a model by accident; each omission is counted. Reading one by its name stays possible: the user
 * may well ask for it. What must never be read is protected by identity, not by this list.
 */
const EXACT_NAMES: ReadonlySet<string> = new Set([
  ".env",
  ".envrc",
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".htpasswd",
  "auth.toml",
  "credentials.json",
  "secrets.json",
  "secrets.yaml",
  "secrets.yml",
  "secrets.toml",
  "service-account.json",
]);

const SUFFIXES: readonly string[] = [
  ".pem",
  ".key",
  ".p12",
  ".pfx",
  ".jks",
  ".keystore",
  ".kdbx",
  ".ppk",
  ".age",
  ".gpg",
];

/** Copies of an `.env` that are meant to be shared. */
const SHARED_ENV_REGEXP = /^\.env\.(?:example|sample|template|dist|defaults)$/;
/** Private keys of OpenSSH; the public halves end in `.pub`. */
const SSH_KEY_REGEXP = /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/;

/** True when a file of this name is left out of discovery. Case does not matter. */
export function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  if (EXACT_NAMES.has(lower) || SSH_KEY_REGEXP.test(lower)) return true;
  if (lower.startsWith(".env.")) return !SHARED_ENV_REGEXP.test(lower);
  return SUFFIXES.some((suffix) => lower.endsWith(suffix));
}
