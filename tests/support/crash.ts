import assert from "node:assert/strict";
import { permissionFlags } from "../../src/cli/permissions.ts";
import type { DomainEvent } from "../../src/core/events/event.ts";
import { CRASH_FILES } from "./crash_script.ts";
import type { TestFolder } from "./repository.ts";
import { TestHost } from "./test_host.ts";

/** `duringMicros`: the append has begun, and the store has had this long for it. */
export type Side = "before" | "after" | { readonly duringMicros: number };

/** Where a process kills itself. Every index counts from 0 within its kind. */
export type KillPoint =
  | { readonly at: "append"; readonly index: number; readonly side: Side }
  | {
    readonly at: "event";
    readonly type: DomainEvent["type"];
    readonly index: number;
    readonly side: Side;
  }
  /** So long after an operation was dispatched, while its effect is under way. */
  | { readonly at: "effect"; readonly index: number; readonly micros: number }
  | { readonly at: "artifact"; readonly index: number; readonly micros: number };

/** A batch that the store said it had committed. */
export interface Acknowledged {
  readonly lastSequence: number;
  readonly types: readonly string[];
}

const CHILD = new URL("crash_main.ts", import.meta.url).pathname;

/** Runs the script of `crash_script.ts` in a process that dies there; what it was told before. */
export async function crash(
  folder: TestFolder,
  point: KillPoint | null,
): Promise<readonly Acknowledged[]> {
  TestHost.prepare(folder, { files: CRASH_FILES });
  const { stdout, signal, success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...permissionFlags(), CHILD, folder.path, JSON.stringify(point)],
    stdin: "null",
  }).output();
  const words = new TextDecoder().decode(stderr);
  if (point === null) assert.ok(success, words);
  else assert.equal(signal, "SIGKILL", `${JSON.stringify(point)}: ${words}`);
  await childrenGone(folder);
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Acknowledged);
}

/** Longest wait for the children of a killed process, in milliseconds: each takes a few. */
const CHILDREN_MS = 10_000;

/** Waits until nothing that was started in the folder runs any more. */
async function childrenGone(folder: TestFolder): Promise<void> {
  const end = Date.now() + CHILDREN_MS;
  while (isAnyoneIn(folder.path)) {
    assert.ok(Date.now() < end, "a child of the killed process does not end");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function isAnyoneIn(path: string): boolean {
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Deno.readLinkSync(`/proc/${name}/cwd`) === path) return true;
    } catch (failure) {
      // Another user's, or gone meanwhile.
      if (
        !(failure instanceof Deno.errors.NotFound || failure instanceof Deno.errors.NotCapable ||
          failure instanceof Deno.errors.PermissionDenied)
      ) throw failure;
    }
  }
  return false;
}
