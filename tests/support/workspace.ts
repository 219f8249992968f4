import assert from "node:assert/strict";
import type { Digest } from "../../src/core/digest.ts";
import type { WorkspaceReason } from "../../src/core/errors.ts";
import { startWorkspaceWorker, type WorkspaceWorker } from "../../src/runtime/workspace/client.ts";
import type {
  FileChange,
  FileVersion,
  PlannedChange,
  WorkspaceReplies,
  WorkspaceRequest,
} from "../../src/runtime/workspace/protocol.ts";
import { countingIds } from "./ids.ts";
import { TestFolder } from "./repository.ts";

/** A real worker on a throwaway folder. */
export class TestWorkspace implements AsyncDisposable {
  readonly folder = new TestFolder();
  readonly worker: WorkspaceWorker = startWorkspaceWorker();
  readonly #ids = countingIds();

  static async open(protectedPaths: readonly string[] = []): Promise<TestWorkspace> {
    const workspace = new TestWorkspace();
    await workspace.ok({ type: "open", root: workspace.folder.path, protectedPaths });
    return workspace;
  }

  /** Sends a request that must succeed. */
  async ok<T extends WorkspaceRequest["type"]>(
    request: Extract<WorkspaceRequest, { type: T }>,
  ): Promise<WorkspaceReplies[T]> {
    const reply = await this.worker.call(request);
    assert.ok(reply.ok, JSON.stringify(reply));
    return reply.value;
  }

  /** Sends a request that must be refused, for that reason. */
  async refused<T extends WorkspaceRequest["type"]>(
    request: Extract<WorkspaceRequest, { type: T }>,
    reason: WorkspaceReason,
  ): Promise<string> {
    const reply = await this.worker.call(request);
    assert.ok(!reply.ok, `not refused: ${JSON.stringify(reply)}`);
    assert.equal(reply.error.reason, reason, JSON.stringify(reply.error));
    return reply.error.detail;
  }

  read(path: string): Promise<WorkspaceReplies["read"]> {
    return this.ok({ type: "read", path, firstLine: 1, maxLines: 1000, maxBytes: 1 << 20 });
  }

  async digest(path: string): Promise<Digest> {
    return (await this.read(path)).version.digest;
  }

  async plan(change: FileChange): Promise<{
    readonly shown: PlannedChange;
    readonly apply: () => Promise<FileVersion>;
    readonly applyRefused: (reason: WorkspaceReason) => Promise<string>;
  }> {
    const operationId = this.#ids.next("operation");
    const shown = await this.ok({ type: "plan", operationId, change });
    return {
      shown,
      apply: () => this.ok({ type: "apply", operationId }),
      applyRefused: (reason) => this.refused({ type: "apply", operationId }, reason),
    };
  }

  planRefused(change: FileChange, reason: WorkspaceReason): Promise<string> {
    return this.refused({ type: "plan", operationId: this.#ids.next("operation"), change }, reason);
  }

  /** Edits a file from what it holds now. */
  async edit(path: string, oldText: string, newText: string, all = false): Promise<void> {
    const expected = await this.digest(path);
    const planned = await this.plan({
      type: "edit",
      path,
      expected,
      replacements: [{ oldText, newText, all }],
    });
    await planned.apply();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}
