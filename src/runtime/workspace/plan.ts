import type { OperationId } from "../../core/ids.ts";
import {
  type FileContent,
  MAX_FILE_BYTES,
  type PresentVersion,
  readContent,
  versionOf,
} from "./_content.ts";
import type { FileChange, FileVersion, PlannedChange, Replacement } from "./protocol.ts";
import { refuse } from "./_refusal.ts";
import { replaceText } from "./replace.ts";
import { locateForWrite, locateNew, type Scope } from "./resolve.ts";
import { adoptFormat, type DecodedText, decodeText, encodeText } from "./text_format.ts";
import { unifiedDiff } from "./unified_diff.ts";

/** What `apply` needs: the change in its final form. Only the worker holds it. */
export type Plan =
  /** Replaces the content of a file that has the digest `before`. */
  | {
    readonly type: "write";
    readonly operationId: OperationId;
    readonly path: string;
    readonly before: PresentVersion;
    readonly after: PresentVersion;
    readonly content: Uint8Array<ArrayBuffer>;
  }
  | {
    readonly type: "create";
    readonly operationId: OperationId;
    readonly path: string;
    readonly after: PresentVersion;
    readonly content: Uint8Array<ArrayBuffer>;
  }
  | {
    readonly type: "delete";
    readonly operationId: OperationId;
    readonly path: string;
    readonly before: PresentVersion;
  }
  | {
    readonly type: "rename";
    readonly operationId: OperationId;
    readonly path: string;
    readonly to: string;
    readonly before: PresentVersion;
  };

/** A plan and how it is shown. */
export interface Planned {
  readonly plan: Plan;
  readonly shown: PlannedChange;
}

/**
 * Works out what a change would do, against the version it names. Writes nothing. A change that
 * would leave the file as it is is refused as `no_match`: a model that believes it changed
 * something must learn that it did not.
 */
export function planChange(
  scope: Scope,
  operationId: OperationId,
  change: FileChange,
): Promise<Planned> {
  switch (change.type) {
    case "edit":
      return planWrite(scope, operationId, {
        ...change,
        rework: (decoded) =>
          encodeText(
            replaceAll(decoded.text, change.replacements, change.path),
            decoded.format.bom,
          ),
      });
    case "rewrite":
      requireText(change.content, change.path);
      return planWrite(scope, operationId, {
        ...change,
        rework: (decoded) => adoptFormat(change.content, decoded.format),
      });
    case "create":
      requireText(change.content, change.path);
      return planCreate(scope, operationId, change);
    case "delete":
      return planDelete(scope, operationId, change);
    case "rename":
      return planRename(scope, operationId, change);
  }
}

interface Write {
  readonly path: string;
  readonly expected: PresentVersion["digest"];
  readonly rework: (decoded: DecodedText) => Uint8Array<ArrayBuffer>;
}

async function planWrite(scope: Scope, operationId: OperationId, write: Write): Promise<Planned> {
  const { path } = write;
  const current = await readForChange(scope, path, write.expected);
  const decoded = decodeText(current.bytes);
  if (!decoded.ok) refuse(decoded.error, path, "Only UTF-8 text can be edited");
  const content = write.rework(decoded.value);
  if (content.length > MAX_FILE_BYTES) refuse("too_large", path, `${content.length} bytes`);
  const before = current.version;
  const after = await versionOf(content, before.mode);
  if (after.digest === before.digest) {
    refuse("no_match", path, "The change leaves the file exactly as it is");
  }
  const diff = unifiedDiff(
    { path, text: decoded.value.text },
    { path, text: new TextDecoder().decode(content) },
  );
  return {
    plan: { type: "write", operationId, path, before, after, content },
    shown: { path, to: null, before, after, preImage: current.bytes, diff },
  };
}

async function planCreate(
  scope: Scope,
  operationId: OperationId,
  change: Extract<FileChange, { readonly type: "create" }>,
): Promise<Planned> {
  const { path } = change;
  locateNew(scope, path)[Symbol.dispose]();
  const content = encodeText(change.content, false);
  if (content.length > MAX_FILE_BYTES) refuse("too_large", path, `${content.length} bytes`);
  const after = await versionOf(content, scope.workspace.newFileMode);
  const before: FileVersion = { state: "absent" };
  const diff = unifiedDiff({ path: null, text: "" }, { path, text: change.content });
  return {
    plan: { type: "create", operationId, path, after, content },
    // Its own buffer each time: the reply hands it over, and a buffer can be handed over once.
    shown: { path, to: null, before, after, preImage: new Uint8Array(0), diff },
  };
}

async function planDelete(
  scope: Scope,
  operationId: OperationId,
  change: Extract<FileChange, { readonly type: "delete" }>,
): Promise<Planned> {
  const { path } = change;
  const current = await readForChange(scope, path, change.expected);
  const before = current.version;
  const decoded = decodeText(current.bytes);
  const diff = decoded.ok
    ? unifiedDiff({ path, text: decoded.value.text }, { path: null, text: "" })
    : `--- a/${path}\n+++ /dev/null\n\\ A file of ${before.sizeBytes} bytes that is not text\n`;
  return {
    plan: { type: "delete", operationId, path, before },
    shown: { path, to: null, before, after: { state: "absent" }, preImage: current.bytes, diff },
  };
}

async function planRename(
  scope: Scope,
  operationId: OperationId,
  change: Extract<FileChange, { readonly type: "rename" }>,
): Promise<Planned> {
  const { path, to } = change;
  const current = await readForChange(scope, path, change.expected);
  locateNew(scope, to)[Symbol.dispose]();
  const before = current.version;
  return {
    plan: { type: "rename", operationId, path, to, before },
    shown: {
      path,
      to,
      before,
      after: before,
      preImage: current.bytes,
      diff: `rename from ${path}\nrename to ${to}\n`,
    },
  };
}

/** Reads a file that is about to change: one name, and the version the change is based on. */
export async function readForChange(
  scope: Scope,
  path: string,
  expected: PresentVersion["digest"],
): Promise<FileContent> {
  using location = locateForWrite(scope, path);
  const current = await readContent(location, { path, maxBytes: MAX_FILE_BYTES });
  requireUnchanged(current, path, expected);
  return current;
}

/** Refuses a file with several names and one that is no longer the version expected. */
export function requireUnchanged(
  current: FileContent,
  path: string,
  expected: PresentVersion["digest"],
): void {
  if (current.stat.links > 1) {
    refuse("multiply_linked", path, `The file has ${current.stat.links} names`);
  }
  if (current.version.digest !== expected) {
    refuse("stale_version", path, "The file is not the version that was read; read it again");
  }
}

function replaceAll(text: string, replacements: readonly Replacement[], path: string): string {
  let result = text;
  for (const [i, replacement] of replacements.entries()) {
    requireText(replacement.newText, path);
    const replaced = replaceText(result, replacement);
    if (!replaced.ok) {
      const which = replacements.length > 1 ? `Replacement ${i + 1}: ` : "";
      refuse(replaced.error.reason, path, which + replaced.error.detail);
    }
    result = replaced.value;
  }
  return result;
}

/** What is written must be readable again: no NUL, nothing that UTF-8 cannot hold. */
function requireText(content: string, path: string): void {
  if (!content.isWellFormed()) refuse("not_utf8", path, "The new text holds half a surrogate pair");
  if (content.includes("\0")) refuse("binary", path, "The new text holds a NUL");
}
