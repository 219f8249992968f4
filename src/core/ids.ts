/** Branded identifiers. The cast happens here and nowhere else. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Every id is its prefix, an underscore and 26 characters of Crockford base 32. */
const PREFIXES = {
  workspace: "ws",
  session: "ses",
  task: "task",
  attempt: "att",
  operation: "op",
  request: "req",
  grant: "gr",
  artifact: "art",
  message: "msg",
  event: "ev",
  snapshot: "cfg",
  instance: "own",
  command: "cmd",
  intervention: "say",
} as const;

/** What an id can name. */
export type IdKind = keyof typeof PREFIXES;
/** An id of one kind. */
export type Id<K extends IdKind> = Branded<K>;
export type WorkspaceId = Id<"workspace">;
export type SessionId = Id<"session">;
export type TaskId = Id<"task">;
export type AttemptId = Id<"attempt">;
export type OperationId = Id<"operation">;
export type RequestId = Id<"request">;
export type GrantId = Id<"grant">;
export type ArtifactId = Id<"artifact">;
export type MessageId = Id<"message">;
export type EventId = Id<"event">;
export type SnapshotId = Id<"snapshot">;
export type InstanceId = Id<"instance">;
export type CommandId = Id<"command">;
export type InterventionId = Id<"intervention">;

/** Makes ids. Injected, so tests and replays are deterministic. */
export interface IdSource {
  next<K extends IdKind>(kind: K): Id<K>;
}

const BODY_REGEXP = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** Parses text as an id of `kind`, or returns null. */
export function parseId<K extends IdKind>(kind: K, text: string): Id<K> | null {
  const prefix = `${PREFIXES[kind]}_`;
  if (!text.startsWith(prefix) || !BODY_REGEXP.test(text.slice(prefix.length))) return null;
  return text as Id<K>;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Characters of the time part: 50 bits of milliseconds. */
const TIME_CHARACTERS = 10;
/** Characters of the random part: 80 bits. */
const RANDOM_CHARACTERS = 16;

/**
 * Builds a time-ordered id from its two parts (the ULID layout).
 *
 * @param wallMs Milliseconds since the epoch.
 * @param random At least 16 bytes; the low five bits of each of the first 16 are used.
 */
export function formatId<K extends IdKind>(kind: K, wallMs: number, random: Uint8Array): Id<K> {
  let time = "";
  let rest = Math.max(0, Math.floor(wallMs));
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let tail = "";
  for (let i = 0; i < RANDOM_CHARACTERS; i++) tail += ALPHABET.charAt((random[i] ?? 0) & 31);
  return `${PREFIXES[kind]}_${time}${tail}` as Id<K>;
}
