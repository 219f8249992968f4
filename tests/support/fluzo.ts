import { permissionFlags } from "../../src/cli/permissions.ts";
import { TestFolder } from "./repository.ts";

/** How a run of the program ended and what it printed. */
export interface FluzoRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** The program as a user has it: the real command line in a repository, with a home of its own. */
export class TestFluzo implements Disposable {
  readonly repository = new TestFolder();
  readonly home = new TestFolder("fluzo-home-");
  readonly #variables: Readonly<Record<string, string>>;
  /** Words before the program's own, to run it in another view of the machine. */
  launcher: readonly string[] = [];

  /** @param variables Further environment variables; the process may read them. */
  constructor(variables: Readonly<Record<string, string>> = {}) {
    this.#variables = variables;
  }

  /**
   * The command that would run, for tests that start it themselves.
   *
   * @param options.permissions Flags of the runtime; default: those of an installation.
   */
  command(
    args: readonly string[],
    {
      permissions = permissionFlags({ variables: Object.keys(this.#variables) }),
      ...options
    }: Partial<Deno.CommandOptions> & { readonly permissions?: readonly string[] } = {},
  ): Deno.Command {
    const [program = Deno.execPath(), ...words] = [...this.launcher, Deno.execPath()];
    return new Deno.Command(program, {
      args: [
        ...words,
        "run",
        "--quiet",
        ...permissions,
        MAIN,
        ...args,
      ],
      cwd: this.repository.path,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: this.home.path,
        DENO_DIR: denoDirectory(),
        DENO_NO_UPDATE_CHECK: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        ...toolChainHomes(),
        ...this.#variables,
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      ...options,
    });
  }

  async run(...args: string[]): Promise<FluzoRun> {
    const { code, stdout, stderr } = await this.command(args).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  /** Sets the repository up for a server, and agrees to it. */
  async setUp(
    baseUrl: string,
    { config = "", init = [] }: { readonly config?: string; readonly init?: readonly string[] } =
      {},
  ): Promise<void> {
    await this.must("init", "--base-url", baseUrl, "--model", "scripted", "--yes", ...init);
    if (config !== "") {
      this.repository.write(".fluzo", `${this.repository.read(".fluzo")}\n${config}`);
    }
    await this.must("consent", "grant");
  }

  /** Runs a command that must succeed. */
  async must(...args: string[]): Promise<FluzoRun> {
    const run = await this.run(...args);
    if (run.code !== 0) {
      throw new Error(`fluzo ${args.join(" ")} ended with ${run.code}:\n${run.stderr}`);
    }
    return run;
  }

  [Symbol.dispose](): void {
    this.repository[Symbol.dispose]();
    this.home[Symbol.dispose]();
  }
}

/** Where this process has its packages, so that a child downloads nothing. */
function denoDirectory(): string {
  const given = Deno.env.get("DENO_DIR");
  if (given !== undefined) return given;
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  return `${cache}/deno`;
}

/** Where tool chains of the real home are: the test's own home has none. */
function toolChainHomes(): Readonly<Record<string, string>> {
  const home = Deno.env.get("HOME") ?? "";
  return Object.fromEntries(
    [["RUSTUP_HOME", ".rustup"], ["CARGO_HOME", ".cargo"]].flatMap(([name = "", folder]) => {
      const path = Deno.env.get(name) ?? `${home}/${folder}`;
      try {
        return Deno.statSync(path).isDirectory ? [[name, path]] : [];
      } catch {
        return [];
      }
    }),
  );
}
