import * as v from "valibot";

/**
 * A scenario: what a scripted server expects and answers, and how the run must end. The format is
 * versioned; `scenarios/README.md` describes it.
 */
const FRAME = v.variant("type", [
  v.strictObject({ type: v.literal("text"), text: v.string() }),
  v.strictObject({ type: v.literal("reasoning"), text: v.string() }),
  /** A whole call in one frame, or cut into `fragments` pieces. */
  v.strictObject({
    type: v.literal("call"),
    index: v.optional(v.number(), 0),
    id: v.string(),
    name: v.string(),
    arguments: v.union([v.string(), v.record(v.string(), v.unknown())]),
    fragments: v.optional(v.number(), 1),
  }),
  v.strictObject({ type: v.literal("finish"), reason: v.string() }),
  v.strictObject({
    type: v.literal("usage"),
    prompt_tokens: v.number(),
    completion_tokens: v.number(),
  }),
  v.strictObject({ type: v.literal("done") }),
  /** Bytes as they are, for everything a correct server would not send. */
  v.strictObject({ type: v.literal("raw"), text: v.string() }),
  /** The connection breaks. */
  v.strictObject({ type: v.literal("cut") }),
  /** Nothing more comes until the client goes away. */
  v.strictObject({ type: v.literal("hang") }),
]);

const REPLY = v.strictObject({
  status: v.optional(v.number(), 200),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  /** A streamed answer. */
  frames: v.optional(v.array(FRAME)),
  /** A whole body instead: JSON, or text. */
  body: v.optional(v.unknown()),
  /** No answer at all, not even headers, until the client goes away. */
  hang: v.optional(v.boolean(), false),
});

const EXPECT = v.strictObject({
  /** Expressions that the content of the last message must match. */
  last_message: v.optional(v.array(v.string()), []),
  /** Role of the last message. */
  last_role: v.optional(v.picklist(["user", "tool"])),
  /** Expressions that some message before the last must match. */
  conversation: v.optional(v.array(v.string()), []),
});

const OUTCOME = v.strictObject({
  exit: v.number(),
  status: v.picklist(["completed", "blocked", "failed", "cancelled", "not_started"]),
  verification: v.optional(v.picklist(["passed", "failed", "not_configured", "not_run"])),
  denials: v.optional(v.number(), 0),
  /** Tokens that must be counted. */
  tokens: v.optional(v.number()),
  /** How many of them must be estimates. */
  estimated: v.optional(v.union([v.number(), v.literal("all")])),
  /** Files with the bytes they must have in the end. */
  files: v.optional(v.record(v.string(), v.string()), {}),
  /** Paths that must have changed, and no others. */
  changes: v.optional(v.array(v.string()), []),
  /** Expressions that the answer must match. */
  answer: v.optional(v.array(v.string()), []),
});

const SCENARIO = v.strictObject({
  version: v.literal(1),
  name: v.string(),
  description: v.string(),
  /** Folder below `scenarios/fixtures` that the repository is made from; null for a small one. */
  fixture: v.nullable(v.string()),
  /** What Git has there: a commit of all files, a repository without a commit, or nothing. */
  git: v.optional(v.picklist(["commits", "unborn", "none"]), "commits"),
  /** Files of a small repository. */
  files: v.optional(v.record(v.string(), v.string()), { "a.txt": "one\n", "b.txt": "two\n" }),
  /** A program that the scenario needs besides Git and Deno. */
  needs: v.optional(v.string()),
  goal: v.string(),
  /** Further arguments of `fluzo run`. */
  arguments: v.optional(v.array(v.string()), []),
  /** Lines added to the configuration. */
  config: v.optional(v.string(), ""),
  /** Runs before the one that is judged; each must succeed. The steps are those of all. */
  earlier: v.optional(v.array(v.strictObject({ goal: v.string() })), []),
  /** Whether the run gets a SIGINT once the server hangs. */
  interrupt: v.optional(v.boolean(), false),
  steps: v.array(v.strictObject({ expect: EXPECT, reply: REPLY })),
  outcome: OUTCOME,
});

export type Scenario = v.InferOutput<typeof SCENARIO>;
export type Step = Scenario["steps"][number];
export type Frame = v.InferOutput<typeof FRAME>;

/**
 * Reads a scenario file.
 *
 * @throws {TypeError} When it is not valid, with the path inside the file.
 */
export async function loadScenario(path: string | URL): Promise<Scenario> {
  const parsed = v.safeParse(SCENARIO, JSON.parse(await Deno.readTextFile(path)));
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new TypeError(`Invalid scenario "${path}": ${v.getDotPath(issue) ?? ""} ${issue.message}`);
}
