/** The variables that say where the user's own files are; passed in, never read here. */
export interface UserEnvironment {
  readonly home: string | null;
  readonly configHome: string | null;
  readonly stateHome: string | null;
}

/** Where Fluzo keeps what is the user's and not the repository's. */
export interface UserPaths {
  /** Consent records. */
  readonly consent: string;
  /** Credentials, by endpoint. */
  readonly credentials: string;
  /** Configuration files that were replaced. */
  readonly backups: string;
}

/**
 * The XDG base directories: a variable counts only when it holds an absolute path.
 *
 * @returns Null when there is no home folder to fall back to.
 */
export function userPaths(environment: UserEnvironment): UserPaths | null {
  const config = base(environment.configHome, environment.home, ".config");
  const state = base(environment.stateHome, environment.home, ".local/state");
  if (config === null || state === null) return null;
  return {
    consent: `${state}/fluzo/consent`,
    credentials: `${config}/fluzo/auth.toml`,
    backups: `${state}/fluzo/backups`,
  };
}

function base(variable: string | null, home: string | null, fallback: string): string | null {
  if (variable !== null && variable.startsWith("/")) return variable.replace(/\/+$/, "");
  return home !== null && home.startsWith("/") ? `${home.replace(/\/+$/, "")}/${fallback}` : null;
}
