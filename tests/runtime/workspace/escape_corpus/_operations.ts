import type { Digest } from "../../../../src/core/digest.ts";
import type { WorkspaceReason } from "../../../../src/core/errors.ts";
import type { WorkspaceWorker } from "../../../../src/runtime/workspace/client.ts";
import type { FileChange } from "../../../../src/runtime/workspace/protocol.ts";
import { newId } from "../../../support/ids.ts";

/** Everything the file tools can be asked to do with a path. */
export const OPERATIONS = [
  "read",
  "read_bytes",
  "versions",
  "list",
  "search",
  "edit",
  "rewrite",
  "create",
  "delete",
  "rename_from",
  "rename_to",
] as const;
export type Operation = typeof OPERATIONS[number];

/** What came of it: done, or the reason of the refusal. */
export type Verdict = WorkspaceReason | "done";

const NO_DIGEST = "0".repeat(64) as Digest;

/** Does it for real: a change is planned and, where that is allowed, applied. */
export async function attempt(
  worker: WorkspaceWorker,
  operation: Operation,
  path: string,
): Promise<Verdict> {
  switch (operation) {
    case "read":
      return verdictOf(
        await worker.call({ type: "read", path, firstLine: 1, maxLines: 9, maxBytes: 1000 }),
      );
    case "read_bytes":
      return verdictOf(await worker.call({ type: "read_bytes", path, maxBytes: 1000 }));
    case "versions": {
      const reply = await worker.call({ type: "versions", paths: [path] });
      const [version] = reply.ok ? reply.value : [reply];
      if (version === undefined) return "io";
      if (!version.ok) return version.error.reason;
      return version.value.state === "absent" ? "not_found" : "done";
    }
    case "list":
      return verdictOf(
        await worker.call({ type: "list", path, depth: 1, maxEntries: 99, candidates: null }),
      );
    case "search":
      return verdictOf(
        await worker.call({
          type: "search",
          pattern: "e",
          mode: "literal",
          caseSensitive: true,
          path,
          glob: null,
          maxMatches: 99,
          maxBytes: 10_000,
          candidates: null,
        }),
      );
    case "create":
      return await change(worker, { type: "create", path, content: "made\n" });
    case "rename_to": {
      const expected = await digestOf(worker, "dir/deep.txt");
      return await change(worker, { type: "rename", path: "dir/deep.txt", to: path, expected });
    }
    case "edit":
    case "rewrite":
    case "delete":
    case "rename_from":
      return await change(
        worker,
        changeOf(operation, path, await digestOf(worker, path)),
      );
  }
}

function changeOf(
  operation: "edit" | "rewrite" | "delete" | "rename_from",
  path: string,
  expected: Digest,
): FileChange {
  switch (operation) {
    case "edit":
      return {
        type: "edit",
        path,
        expected,
        replacements: [{ oldText: "inside", newText: "changed", all: false }],
      };
    case "rewrite":
      return { type: "rewrite", path, expected, content: "changed\n" };
    case "delete":
      return { type: "delete", path, expected };
    case "rename_from":
      return { type: "rename", path, to: "moved.txt", expected };
  }
}

/** The digest a caller has that knows the content, so that only the path can be refused. */
async function digestOf(worker: WorkspaceWorker, path: string): Promise<Digest> {
  const reply = await worker.call({ type: "versions", paths: [path] });
  const version = reply.ok ? reply.value[0] : undefined;
  return version?.ok === true && version.value.state === "file" ? version.value.digest : NO_DIGEST;
}

async function change(worker: WorkspaceWorker, asked: FileChange): Promise<Verdict> {
  const operationId = newId("operation");
  const planned = await worker.call({ type: "plan", operationId, change: asked });
  if (!planned.ok) return planned.error.reason;
  return verdictOf(await worker.call({ type: "apply", operationId }));
}

function verdictOf(
  reply: { readonly ok: true } | {
    readonly ok: false;
    readonly error: { readonly reason: WorkspaceReason };
  },
): Verdict {
  return reply.ok ? "done" : reply.error.reason;
}
