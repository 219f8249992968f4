import assert from "node:assert/strict";
import type { Timers } from "../../src/core/clock.ts";
import type { ApplicationPort } from "../../src/core/port/application.ts";
import { ok } from "../../src/core/result.ts";
import { ControlServer, type ServerOptions } from "../../src/runtime/control/server.ts";
import { systemTimers } from "../../src/runtime/system_clock.ts";
import type { ControlPlace } from "../../src/runtime/workspace/owner_record.ts";
import { OWNER } from "./control_line.ts";
import { TestFolder } from "./repository.ts";

/** A control server in a folder of its own, for an owner that a test plays. */
export class TestServer implements AsyncDisposable {
  readonly folder: TestFolder;
  readonly server: ControlServer;
  /** What was announced, in order. */
  readonly places: readonly ControlPlace[];

  private constructor(parts: Pick<TestServer, "folder" | "server" | "places">) {
    this.folder = parts.folder;
    this.server = parts.server;
    this.places = parts.places;
  }

  static open(
    { port = {}, timers = systemTimers, credentialsOf }: {
      readonly port?: Partial<Pick<ApplicationPort, "execute" | "query">>;
      readonly timers?: Timers;
      readonly credentialsOf?: ServerOptions["credentialsOf"];
    } = {},
  ): TestServer {
    const folder = new TestFolder("fluzo-control-");
    const places: ControlPlace[] = [];
    const answer = () => Promise.resolve(ok({}));
    const server = ControlServer.open({
      ...OWNER,
      timers,
      // What comes back is plain data to the server.
      port: { execute: answer, query: answer, ...port } as Pick<
        ApplicationPort,
        "execute" | "query"
      >,
    }, {
      place: { runtimeDirectory: null, dataDirectory: folder.path },
      announce: (place) => void places.push(place),
      ...(credentialsOf === undefined ? {} : { credentialsOf }),
    });
    assert.ok(server);
    return new TestServer({ folder, server, places });
  }

  get path(): string {
    return this.server.path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    this.folder[Symbol.dispose]();
  }
}
