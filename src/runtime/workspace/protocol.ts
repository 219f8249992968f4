import type { Digest } from "../../core/digest.ts";
import type { WorkspaceError } from "../../core/errors.ts";
import type { OperationId } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";

/**
 * What goes between the runtime and the workspace worker. Every path is relative to the workspace
 * root, in the form the model or Git gave it; the worker alone decides what it resolves to. Paths
 * that are not UTF-8 are listed (escaped for display, flagged) but cannot be named in a request.
 */

/** What a path held when it was looked at. */
export type FileVersion =
  | { readonly state: "absent" }
  | {
    readonly state: "file";
    readonly digest: Digest;
    readonly sizeBytes: number;
    /** Permission bits, for example 0o644. */
    readonly mode: number;
  };

/** The version an edit is based on: a digest that was read, or absence. */
export type ExpectedVersion = Digest | "absent";

/** A change that has been asked for. Edits apply in order, each to the result of the one before. */
export type FileChange =
  | {
    readonly type: "edit";
    readonly path: string;
    readonly expected: Digest;
    readonly replacements: readonly Replacement[];
  }
  | { readonly type: "create"; readonly path: string; readonly content: string }
  /** Replaces the whole content of an existing file. */
  | {
    readonly type: "rewrite";
    readonly path: string;
    readonly expected: Digest;
    readonly content: string;
  }
  | { readonly type: "delete"; readonly path: string; readonly expected: Digest }
  | {
    readonly type: "rename";
    readonly path: string;
    readonly to: string;
    readonly expected: Digest;
  };

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  /** Replace every occurrence; otherwise exactly one must exist. */
  readonly all: boolean;
}

/** What a planned change would do. Nothing has been written yet. */
export interface PlannedChange {
  readonly path: string;
  /** Destination of a rename. */
  readonly to: string | null;
  readonly before: FileVersion;
  readonly after: FileVersion;
  /** The bytes that would be lost or changed, for the pre-image artifact; empty for a create. */
  readonly preImage: Uint8Array;
  /** Unified diff for display and for the model, at most `MAX_DIFF_BYTES`. */
  readonly diff: string;
}

/** A change that its process may have left half done, as the journal recorded its intent. */
export interface UnfinishedChange {
  readonly operationId: OperationId;
  readonly action: "edit" | "create" | "rewrite" | "delete" | "rename";
  readonly path: string;
  readonly before: Digest | "absent" | null;
  readonly after: Digest | "absent" | null;
  /** Whether the journal has the bytes as they were before. */
  readonly beforeKept: boolean;
}

/** What became of the private name of an unfinished change; `name` is relative to the root. */
export type Leftover =
  | { readonly type: "none" }
  | { readonly type: "removed" }
  | { readonly type: "kept"; readonly name: string };

/** A part of a file, whole lines. */
export interface FileText {
  readonly path: string;
  readonly version: Extract<FileVersion, { state: "file" }>;
  /** Decoded text, BOM removed, line endings as LF. */
  readonly text: string;
  /** 1-based; 0 for an empty file. */
  readonly firstLine: number;
  readonly lastLine: number;
  /** Null when the end of the file was not reached within the cap on bytes scanned. */
  readonly totalLines: number | null;
  readonly endings: "lf" | "crlf" | "mixed" | "none";
  readonly bom: boolean;
  readonly finalNewline: boolean;
  /** Which cap cut the text: null when nothing was cut. */
  readonly cut: "lines" | "bytes" | "line_length" | null;
}

export interface ListEntry {
  /** Relative to the root; escaped for display when `utf8` is false. */
  readonly path: string;
  readonly kind: "file" | "directory" | "link" | "other";
  readonly sizeBytes: number;
  readonly utf8: boolean;
}

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  /** The line, cut to the cap. */
  readonly text: string;
}

export interface SearchResult {
  readonly matches: readonly SearchMatch[];
  readonly filesSearched: number;
  /** Binary, oversized, protected, vanished or refused, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly cut: "matches" | "bytes" | "files" | "time" | null;
}

/**
 * Candidate names, NUL-separated bytes as Git prints them; null lets the worker walk the tree with
 * the ignore rules it finds. Names are hints only: each is opened beneath the root by itself.
 */
export type Candidates = Uint8Array | null;

export type WorkspaceRequest =
  | {
    readonly type: "open";
    readonly root: string;
    /** Absolute paths outside or inside that no operation may touch (credential store, data). */
    readonly protectedPaths: readonly string[];
  }
  | {
    readonly type: "read";
    readonly path: string;
    readonly firstLine: number;
    readonly maxLines: number;
    readonly maxBytes: number;
  }
  | { readonly type: "read_bytes"; readonly path: string; readonly maxBytes: number }
  | {
    readonly type: "list";
    readonly path: string;
    readonly depth: number;
    readonly maxEntries: number;
    readonly candidates: Candidates;
  }
  | {
    readonly type: "search";
    readonly pattern: string;
    readonly mode: "literal" | "regex";
    readonly caseSensitive: boolean;
    /** A file or directory to search beneath; "." for all. */
    readonly path: string;
    /** A glob on the relative path, or null. */
    readonly glob: string | null;
    readonly maxMatches: number;
    readonly maxBytes: number;
    readonly candidates: Candidates;
  }
  | { readonly type: "versions"; readonly paths: readonly string[] }
  | { readonly type: "plan"; readonly operationId: OperationId; readonly change: FileChange }
  | { readonly type: "apply"; readonly operationId: OperationId }
  | { readonly type: "discard"; readonly operationId: OperationId }
  | { readonly type: "clean_up"; readonly change: UnfinishedChange };

/** The answer to each request type. */
export interface WorkspaceReplies {
  readonly open: { readonly device: string; readonly inode: string; readonly birthTimeNs: string };
  readonly read: FileText;
  readonly read_bytes: {
    readonly bytes: Uint8Array;
    readonly version: Extract<FileVersion, { state: "file" }>;
  };
  readonly list: {
    readonly entries: readonly ListEntry[];
    readonly cut: boolean;
    /** Left out of discovery, by reason: protected, secret-looking, vanished. */
    readonly skipped: Readonly<Record<string, number>>;
  };
  readonly search: SearchResult;
  /** One per path, in order; an error where the path is refused. */
  readonly versions: readonly Result<FileVersion, WorkspaceError>[];
  readonly plan: PlannedChange;
  /** The version that now stands at the path (at `to` for a rename). */
  readonly apply: FileVersion;
  readonly discard: null;
  readonly clean_up: Leftover;
}

/** A typed handle on the worker: one method, every request bounded, none throws for a refusal. */
export interface WorkspaceFiles {
  call<T extends WorkspaceRequest["type"]>(
    request: Extract<WorkspaceRequest, { type: T }>,
  ): Promise<Result<WorkspaceReplies[T], WorkspaceError>>;
}
