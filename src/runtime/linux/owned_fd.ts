import { libc } from "./libc.ts";

/**
 * A file descriptor with one owner. `using fd = …` closes it at the end of the block; closing twice
 * is harmless, and using it after that throws instead of reaching a number that was given out again.
 */
export class OwnedFd implements Disposable {
  #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The number the kernel gave. */
  get number(): number {
    if (this.#fd < 0) throw new TypeError("Cannot use a file descriptor that is closed");
    return this.#fd;
  }

  close(): void {
    if (this.#fd < 0) return;
    // Linux frees the number even when close reports an error, so it must not be tried again.
    libc().close(this.#fd);
    this.#fd = -1;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
