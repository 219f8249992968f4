/** A throwaway folder that is removed when the test ends, with or without a Git repository in it. */
export class TestFolder implements Disposable {
  readonly path: string;

  constructor(prefix = "fluzo-test-") {
    this.path = Deno.realPathSync(Deno.makeTempDirSync({ prefix }));
  }

  /** Writes a file, with the folders it needs. */
  write(name: string, content: string | Uint8Array): void {
    const path = `${this.path}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(path, content);
    else Deno.writeFileSync(path, content);
  }

  read(name: string): string {
    return Deno.readTextFileSync(`${this.path}/${name}`);
  }

  exists(name: string): boolean {
    try {
      Deno.lstatSync(`${this.path}/${name}`);
      return true;
    } catch {
      return false;
    }
  }

  /** Runs Git as a user would, with an identity of its own; throws when it fails. */
  git(...args: string[]): string {
    const { success, stdout, stderr } = new Deno.Command("git", {
      args: ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", ...args],
      cwd: this.path,
      stdin: "null",
      env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    }).outputSync();
    if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }

  /** Makes it a repository whose first commit holds `files`. */
  commit(files: Readonly<Record<string, string>>): void {
    this.git("init", "-q", "-b", "main");
    for (const [name, content] of Object.entries(files)) this.write(name, content);
    this.git("add", "-A");
    this.git("commit", "-q", "-m", "first");
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
