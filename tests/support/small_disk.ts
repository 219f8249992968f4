import assert from "node:assert/strict";

/**
 * A small file system of its own over a folder, which only processes begun through `launcher` see:
 * a tmpfs in a user and mount namespace, so that nobody needs to be root. The kernel of this
 * machine has to allow such namespaces: `isAvailable` says whether it does.
 */
export class SmallDisk implements AsyncDisposable {
  readonly #path: string;
  readonly #holder: Deno.ChildProcess;
  readonly #stage: string;

  private constructor(path: string, holder: Deno.ChildProcess, stage: string) {
    this.#path = path;
    this.#holder = holder;
    this.#stage = stage;
  }

  static isAvailable(): boolean {
    try {
      const tried = new Deno.Command("unshare", {
        args: ["-Urm", "sh", "-c", "mount -t tmpfs none /mnt && command -v nsenter"],
        stdout: "null",
        stderr: "null",
      }).outputSync();
      return tried.success;
    } catch (failure) {
      if (failure instanceof Deno.errors.NotFound) return false;
      throw failure;
    }
  }

  /** Puts the content of `path` on a file system of that size, mounted there. */
  static async over(path: string, { mebibytes }: { readonly mebibytes: number }) {
    const stage = await Deno.makeTempDir();
    const script = 'cp -a "$1"/. "$2" && mount -t tmpfs -o "size=$3m,mode=700" small "$1" && ' +
      'cp -a "$2"/. "$1" && echo ready && exec cat';
    const holder = new Deno.Command("unshare", {
      args: ["-Urm", "sh", "-c", script, "sh", path, stage, String(mebibytes)],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = holder.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    assert.match(new TextDecoder().decode(value), /ready/);
    return new SmallDisk(path, holder, stage);
  }

  /** Words that run a program in the folder as it is there. */
  get launcher(): readonly string[] {
    return [
      "nsenter",
      "--preserve-credentials",
      "--user",
      "--mount",
      "--target",
      String(this.#holder.pid),
      "sh",
      "-c",
      'cd "$0" && exec "$@"',
      this.#path,
    ];
  }

  /** Runs a shell script in the folder; it must succeed. */
  async must(script: string): Promise<string> {
    const [program = "", ...words] = this.launcher;
    const { success, stdout, stderr } = await new Deno.Command(program, {
      args: [...words, "sh", "-c", script],
    }).output();
    assert.ok(success, `${script}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#holder.stdin.close();
    await this.#holder.stdout.cancel();
    await this.#holder.status;
    await Deno.remove(this.#stage, { recursive: true });
  }
}
