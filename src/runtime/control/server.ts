import type { ControlPlace } from "../workspace/owner_record.ts";
import { LinuxError } from "../linux/errno.ts";
import type { OwnedFd } from "../linux/owned_fd.ts";
import { Poller, type Watch } from "../linux/poller.ts";
import {
  acceptUnix,
  listenUnix,
  type PeerCredentials,
  peerCredentials,
} from "../linux/unix_socket.ts";
import { FrameSocket } from "./frame_socket.ts";
import { type PlaceOptions, removeSocket, socketPaths } from "./place.ts";
import { CONTROL_PROTOCOL, MAX_REPLY_BYTES, MAX_REQUEST_BYTES } from "./protocol.ts";
import { ControlSession, type SessionOwner } from "./session.ts";

/** Connections at the same time: one person with some terminals and scripts. */
const MAX_CONNECTIONS = 16;

/** Connections that may wait to be accepted, in the kernel. */
const BACKLOG = 16;

/** Most that waits to be sent on one connection, in bytes: its largest reply and some small ones. */
const MAX_UNSENT_BYTES = MAX_REPLY_BYTES + 65_536;

/** How long the end waits for answers that are under way, in milliseconds. */
const CLOSE_WAIT_MS = 1000;

/** What the server runs with besides the owner it speaks for. */
export interface ServerOptions {
  readonly place: PlaceOptions;
  /** Who stands at the other end; the kernel's answer if left out. */
  readonly credentialsOf?: (connection: OwnedFd) => PeerCredentials;
}

interface Client {
  readonly socket: FrameSocket;
  readonly session: ControlSession;
}

/** The control socket of the owner of a workspace. */
export class ControlServer {
  readonly #owner: SessionOwner;
  readonly #credentialsOf: (connection: OwnedFd) => PeerCredentials;
  readonly #listener: OwnedFd;
  readonly #poller: Poller;
  readonly #watch: Watch;
  readonly #clients = new Set<Client>();
  /** Told when a client is gone or a request is done with, while the server closes. */
  #onProgress: () => void = () => {};
  /** Where it listens. */
  readonly path: string;

  private constructor(
    owner: SessionOwner,
    { listener, path, onLost, credentialsOf = peerCredentials }: {
      readonly listener: OwnedFd;
      readonly path: string;
      readonly onLost: (reason: string) => void;
      readonly credentialsOf?: ServerOptions["credentialsOf"];
    },
  ) {
    this.#owner = owner;
    this.#credentialsOf = credentialsOf;
    this.#listener = listener;
    this.path = path;
    this.#poller = new Poller((error) => {
      for (const { socket } of this.#clients) socket.close();
      onLost(error.message);
    });
    this.#watch = this.#poller.watch(listener, () => this.#accept());
  }

  /**
   * Listens in the first place that takes a socket. Without one a workspace is worked in all the
   * same: it just cannot be reached from another terminal, and the reason is in its record.
   *
   * @param announce Told where, and later if it is lost.
   */
  static open(
    owner: SessionOwner,
    { place, credentialsOf, announce }: ServerOptions & {
      readonly announce: (place: ControlPlace) => void;
    },
  ): ControlServer | null {
    const unavailable = (reason: string) => announce({ type: "unavailable", reason });
    const bound = bind(owner, place);
    if (typeof bound === "string") {
      unavailable(bound);
      return null;
    }
    const server = new ControlServer(owner, {
      ...bound,
      onLost: unavailable,
      ...(credentialsOf === undefined ? {} : { credentialsOf }),
    });
    announce({ type: "listening", path: bound.path, protocol: CONTROL_PROTOCOL });
    return server;
  }

  /** Takes no more clients, answers what is under way within a bound, and ends. */
  async close(): Promise<void> {
    this.#watch.end();
    removeSocket(this.path);
    this.#listener.close();
    const limit = Promise.withResolvers<void>();
    const cancel = this.#owner.timers.after(CLOSE_WAIT_MS, limit.resolve);
    const answered = this.#until(() => ![...this.#clients].some(({ session }) => session.busy));
    await Promise.race([answered, limit.promise]);
    for (const { session } of [...this.#clients]) session.refuse("closing", "");
    await Promise.race([this.#until(() => this.#clients.size === 0), limit.promise]);
    cancel();
    for (const { socket } of [...this.#clients]) socket.close();
    await this.#poller.close();
  }

  #accept(): void {
    const connection = acceptUnix(this.#listener);
    if (connection === null) return;
    const state: { client: Client | null } = { client: null };
    const socket = new FrameSocket({
      fd: connection,
      poller: this.#poller,
      timers: this.#owner.timers,
      maxFrameBytes: MAX_REQUEST_BYTES,
      maxUnsentBytes: MAX_UNSENT_BYTES,
      handlers: {
        onFrame: (text) => state.client?.session.frame(text),
        onBreach: (breach) => state.client?.session.refuse(breach, ""),
        onClosed: () => {
          if (state.client === null) return;
          state.client.session.over();
          this.#clients.delete(state.client);
          this.#onProgress();
        },
      },
    });
    const session = new ControlSession(this.#owner, socket, () => this.#onProgress());
    const client = { socket, session };
    state.client = client;
    this.#clients.add(client);
    const { uid } = this.#credentialsOf(connection);
    if (uid !== Deno.uid()) session.refuse("wrong_user", "");
    else if (this.#clients.size > MAX_CONNECTIONS) session.refuse("busy", "");
  }

  /** Resolves when `done` is so. */
  #until(done: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onProgress = () => {
        if (done()) resolve();
      };
      this.#onProgress();
    });
  }
}

function bind(
  { instanceId }: SessionOwner,
  place: PlaceOptions,
): { readonly listener: OwnedFd; readonly path: string } | string {
  let reason = "no private folder with a short enough path";
  for (const path of socketPaths(place, instanceId)) {
    try {
      const listener = listenUnix(path, BACKLOG);
      // The folder is private already; this keeps the socket so wherever it is looked at.
      Deno.chmodSync(path, 0o600);
      return { listener, path };
    } catch (failure) {
      if (!(failure instanceof LinuxError)) throw failure;
      reason = `${path}: ${failure.message}`;
    }
  }
  return reason;
}
