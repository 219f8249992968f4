import { checked, LinuxError } from "./errno.ts";
import { libc, readErrno } from "./libc.ts";
import { OwnedFd } from "./owned_fd.ts";

const POLLIN = 0x1;
const POLLOUT = 0x4;
const POLLERR = 0x8;
const POLLHUP = 0x10;
const POLLNVAL = 0x20;
const EFD_CLOEXEC = 0o2000000;
const EFD_NONBLOCK = 0o4000;
/** A `pollfd`: descriptor, what is wanted, what is there. */
const ENTRY_BYTES = 8;
const LITTLE = true;
const NO_TIMEOUT = -1;

/**
 * Waits in a row that may fail before the poller gives up. A signal may interrupt one; the error
 * number is out of reach, so only the repetition tells a defect apart.
 */
const MAX_FAILURES = 100;

/** What may be done with a descriptor now. An error or hang-up counts as readable: reading tells. */
export interface Readiness {
  readonly readable: boolean;
  readonly writable: boolean;
}

/** One watched descriptor. */
export interface Watch {
  /** Whether to tell about room for writing; reading is told unless `reading` is false. */
  want(wanted: { readonly reading: boolean; readonly writing: boolean }): void;
  /** Ends the watch; nothing more is told. The descriptor may be closed straight after. */
  end(): void;
}

interface Watched {
  readonly fd: OwnedFd;
  readonly onReady: (ready: Readiness) => void;
  events: number;
}

/**
 * Waits for descriptors that Deno does not know, in the kernel and in a thread of the runtime's
 * pool: nothing polls by time and the isolate stays free. A wait that is under way keeps the process
 * alive until `close`.
 */
export class Poller {
  readonly #wake = new OwnedFd(checked("eventfd", libc().eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  readonly #watched = new Set<Watched>();
  readonly #onLost: (error: Error) => void;
  readonly #ended: Promise<void>;
  #closed = false;

  /** @param onLost Told once if waiting itself fails for good; nothing is told after that. */
  constructor(onLost: (error: Error) => void) {
    this.#onLost = onLost;
    this.#ended = this.#run();
  }

  /** Tells `onReady` each time something can be done with the descriptor, until it was done. */
  watch(fd: OwnedFd, onReady: (ready: Readiness) => void): Watch {
    const watched: Watched = { fd, onReady, events: POLLIN };
    this.#watched.add(watched);
    this.#interrupt();
    return {
      want: ({ reading, writing }) => {
        const events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0);
        if (watched.events === events) return;
        watched.events = events;
        this.#interrupt();
      },
      end: () => {
        if (this.#watched.delete(watched)) this.#interrupt();
      },
    };
  }

  /** Ends the wait. Resolves once the thread has returned. Idempotent. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#watched.clear();
      this.#interrupt();
    }
    await this.#ended;
    this.#wake.close();
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#closed;) {
      const watched = [...this.#watched];
      const entries = this.#entries(watched);
      const ready = await libc().poll(entries, BigInt(watched.length + 1), NO_TIMEOUT);
      if (ready >= 0) {
        failures = 0;
        this.#drain();
        this.#tell(watched, new DataView(entries.buffer));
      } else if (++failures >= MAX_FAILURES) {
        this.#closed = true;
        this.#watched.clear();
        this.#onLost(new Error(`Cannot wait for sockets: ${failures} calls of poll failed`));
      }
    }
  }

  /** The kernel's table: the wake descriptor first. */
  #entries(watched: readonly Watched[]): Uint8Array<ArrayBuffer> {
    const entries = new Uint8Array((watched.length + 1) * ENTRY_BYTES);
    const view = new DataView(entries.buffer);
    view.setInt32(0, this.#wake.number, LITTLE);
    view.setInt16(4, POLLIN, LITTLE);
    watched.forEach(({ fd, events }, index) => {
      view.setInt32((index + 1) * ENTRY_BYTES, fd.number, LITTLE);
      view.setInt16((index + 1) * ENTRY_BYTES + 4, events, LITTLE);
    });
    return entries;
  }

  #tell(watched: readonly Watched[], view: DataView): void {
    watched.forEach((entry, index) => {
      const events = view.getInt16((index + 1) * ENTRY_BYTES + 6, LITTLE);
      // An earlier one may have ended this watch, and its number may be another file's by now.
      if (events === 0 || !this.#watched.has(entry)) return;
      entry.onReady({
        readable: (events & (POLLIN | POLLERR | POLLHUP | POLLNVAL)) !== 0,
        writable: (events & POLLOUT) !== 0,
      });
    });
  }

  /** Makes the wait under way return, so that it begins anew with what is watched now. */
  #interrupt(): void {
    const one = new Uint8Array(new BigUint64Array([1n]).buffer);
    // EAGAIN means that it is awake already.
    if (libc().write(this.#wake.number, one, BigInt(one.length)) >= 0) return;
    const error = new LinuxError("write", readErrno());
    if (error.code !== "EAGAIN") throw error;
  }

  #drain(): void {
    libc().read(this.#wake.number, new Uint8Array(8), 8n);
  }
}
