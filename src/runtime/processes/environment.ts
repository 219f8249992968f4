/**
 * The environment of a child: a documented baseline, never a copy of ours. Listed by name: basics a
 * program needs, and folders in which tool chains keep their things. No secret is among them, and
 * no socket of an agent.
 */
export const BASELINE_VARIABLES = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_CTYPE",
  "LC_COLLATE",
  "LC_MESSAGES",
  "LC_NUMERIC",
  "LC_TIME",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "DENO_DIR",
  "DENO_INSTALL",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "RUSTUP_TOOLCHAIN",
  "GOPATH",
  "GOROOT",
  "GOCACHE",
  "GOMODCACHE",
  "JAVA_HOME",
  "NVM_DIR",
  "VOLTA_HOME",
  "PNPM_HOME",
  "BUN_INSTALL",
  "PYENV_ROOT",
  "VIRTUAL_ENV",
  "RBENV_ROOT",
] as const;

/** What every child gets: no terminal, no editor, no pager, no prompt, no colour codes. */
const FIXED: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
};

/** Where a child's environment comes from. */
export interface EnvironmentSources {
  /** Value of a variable of this process; null when it is unset or may not be read. */
  variable(name: string): string | null;
  /** `tools.shell.inherit_env`. */
  readonly inherit: readonly string[];
  /** `tools.shell.env`. */
  readonly set: Readonly<Record<string, string>>;
  /** Variables that hold secrets Fluzo itself uses: never passed on, whoever names them. */
  readonly secretNames: ReadonlySet<string>;
}

/** Builds the environment of a child. Only absolute folders of PATH are kept. */
export function childEnvironment(sources: EnvironmentSources): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {};
  for (const name of [...BASELINE_VARIABLES, ...sources.inherit]) {
    const value = sources.variable(name);
    if (value !== null) environment[name] = value;
  }
  Object.assign(environment, FIXED, sources.set);
  environment["PATH"] = searchPath(environment["PATH"] ?? "").join(":");
  for (const name of sources.secretNames) delete environment[name];
  return environment;
}

/** The folders of a PATH that are absolute: an empty or relative one would mean the current folder. */
export function searchPath(path: string): readonly string[] {
  return path.split(":").filter((folder) => folder.startsWith("/"));
}
