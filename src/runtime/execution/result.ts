import type { Artifact, DomainEvent, TaskResult } from "../../core/events/event.ts";
import type { Attempt } from "./attempt.ts";
import { putArtifact } from "./perform.ts";
import { observeChanges, type ObserverEffects } from "./workspace_observer.ts";

/** Files whose difference is shown in a result; the others are listed by name only. */
const MAX_DIFFED_FILES = 200;

/** A file larger than this is listed, not compared, in bytes. */
const MAX_DIFFED_BYTES = 1 << 20;

/** The whole diff of a result, in bytes. */
const MAX_DIFF_BYTES = 2 << 20;

/** What building a result needs to look at. */
export interface ResultEffects extends ObserverEffects {
  /** Content of `path` in the last commit, or null when it is not in there. */
  committed(path: string): Promise<Uint8Array | null>;
}

/** Puts together what a task did: its changes, their diff, its denials and its cost. */
export async function buildResult(
  attempt: Attempt,
  known: Pick<TaskResult, "error" | "answer" | "verification"> & {
    readonly status: TaskResult["status"];
  },
  effects: ResultEffects,
): Promise<{ readonly result: TaskResult; readonly events: readonly DomainEvent[] }> {
  const { firstVersions, baseline } = attempt;
  const observation = await observeChanges({
    baseline,
    toolPaths: new Set(firstVersions.keys()),
    createdPaths: new Set(
      [...firstVersions].flatMap(([path, first]) => first.type === "absent" ? [path] : []),
    ),
  }, effects);
  const touched = [...firstVersions.keys()].filter((path) =>
    baseline.entries.some((entry) => entry.path === path)
  );
  const diff = await keepDiff(attempt, {
    paths: [...observation.changes.map(({ path }) => path), ...touched],
    effects,
  });
  const result: TaskResult = {
    ...known,
    changes: observation.changes,
    preExisting: observation.preExisting,
    denials: attempt.denials,
    consumption: attempt.consumption,
    diff: diff?.id ?? null,
    uncertainties: [...attempt.uncertainties, ...observation.uncertainties],
  };
  return {
    result,
    events: diff === null ? [] : [{ type: "artifact_recorded", artifact: diff }],
  };
}

async function keepDiff(
  attempt: Attempt,
  { paths, effects }: { readonly paths: readonly string[]; readonly effects: ResultEffects },
): Promise<Artifact | null> {
  const parts: string[] = [];
  let bytes = 0;
  for (const [index, path] of paths.entries()) {
    if (index >= MAX_DIFFED_FILES || bytes > MAX_DIFF_BYTES) {
      parts.push(`(${paths.length - index} more changed files are not shown)\n`);
      break;
    }
    const part = await diffOf(attempt, { path, effects });
    parts.push(part);
    bytes += part.length;
  }
  const text = attempt.services.redactor.redact(parts.join(""));
  if (text === "") return null;
  return await putArtifact(attempt, {
    kind: "diff",
    bytes: new TextEncoder().encode(text),
    droppedBytes: 0,
  });
}

async function diffOf(
  attempt: Attempt,
  { path, effects }: { readonly path: string; readonly effects: ResultEffects },
): Promise<string> {
  const before = await contentBefore(attempt, { path, effects });
  if (before === "withheld") return `(the change of ${path} is not shown: it held a secret)\n`;
  const after = await contentNow(path, effects);
  if (after === "refused") return `(the change of ${path} cannot be shown)\n`;
  return await compare(path, { before, after });
}

/** A unified diff of two contents; null stands for no file. Binary content is only named. */
async function compare(
  path: string,
  { before, after }: { readonly before: Uint8Array | null; readonly after: Uint8Array | null },
): Promise<string> {
  const [oldText, newText] = [decodeText(before), decodeText(after)];
  if (oldText === null || newText === null) return `Binary file ${path} differs\n`;
  // Only a result with changes needs it, and it is not small.
  const { unifiedDiff } = await import("../workspace/unified_diff.ts");
  return unifiedDiff(
    { path: before === null ? null : path, text: oldText },
    { path: after === null ? null : path, text: newText },
  );
}

function decodeText(bytes: Uint8Array | null): string | null {
  if (bytes === null) return "";
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

async function contentBefore(
  attempt: Attempt,
  { path, effects }: { readonly path: string; readonly effects: ResultEffects },
): Promise<Uint8Array | null | "withheld"> {
  const first = attempt.firstVersions.get(path);
  switch (first?.type) {
    case "absent":
      return null;
    case "withheld":
      return "withheld";
    case "kept": {
      const kept = await attempt.services.reader.artifact(first.artifact);
      return kept.ok ? kept.value : "withheld";
    }
    case undefined:
      return await effects.committed(path);
  }
}

async function contentNow(
  path: string,
  { files }: ResultEffects,
): Promise<Uint8Array | null | "refused"> {
  const read = await files.call({ type: "read_bytes", path, maxBytes: MAX_DIFFED_BYTES });
  if (read.ok) return read.value.bytes;
  return read.error.reason === "not_found" ? null : "refused";
}
