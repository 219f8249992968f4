import assert from "node:assert/strict";
import { permissionFlags } from "../../src/cli/permissions.ts";
import type { DomainEvent } from "../../src/core/events/event.ts";
import { CRASH_FILES } from "./crash_script.ts";
import { nobodyIn } from "./processes_in.ts";
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

/** Longest wait for the children of a killed process, in milliseconds: each takes a few. */
const CHILDREN_MS = 10_000;

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
  await nobodyIn(folder.path, CHILDREN_MS);
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Acknowledged);
}
