/** A process whose output is read line by line while it runs. */
export class Background implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines = new Map<"stdout" | "stderr", Lines>();

  /** @param command Both outputs must be pipes. */
  constructor(command: Deno.Command) {
    this.#child = command.spawn();
    this.#lines.set("stdout", new Lines(this.#child.stdout));
    this.#lines.set("stderr", new Lines(this.#child.stderr));
  }

  get pid(): number {
    return this.#child.pid;
  }

  get status(): Promise<Deno.CommandStatus> {
    return this.#child.status;
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits for a line that matches, from the beginning of that output on. */
  async line(stream: "stdout" | "stderr", pattern: RegExp): Promise<string> {
    const found = await this.#lines.get(stream)?.find(pattern);
    if (found !== undefined && found !== null) return found;
    throw new Error(`No line matches ${pattern}; it printed: ${await this.text("stderr")}`);
  }

  /** Everything it printed, once it has ended. */
  async text(stream: "stdout" | "stderr"): Promise<string> {
    return await this.#lines.get(stream)?.all() ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch (failure) {
      if (!(failure instanceof TypeError)) throw failure;
    }
    await this.#child.status;
    for (const lines of this.#lines.values()) await lines.done;
  }
}

class Lines {
  readonly #lines: string[] = [];
  #ended = false;
  #wake = Promise.withResolvers<void>();
  readonly done: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.done = this.#read(stream);
  }

  async find(pattern: RegExp): Promise<string | null> {
    for (let index = 0;;) {
      const line = this.#lines[index];
      if (line !== undefined) {
        if (pattern.test(line)) return line;
        index++;
      } else if (this.#ended) return null;
      else await this.#wake.promise;
    }
  }

  async all(): Promise<string> {
    await this.done;
    return this.#lines.join("\n");
  }

  async #read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      this.#lines.push(...lines);
      this.#woken();
    }
    if (rest !== "") this.#lines.push(rest);
    this.#ended = true;
    this.#woken();
  }

  #woken(): void {
    const { resolve } = this.#wake;
    this.#wake = Promise.withResolvers<void>();
    resolve();
  }
}
