import {
  boolean,
  choice,
  type Fields,
  integer,
  number,
  optionalNumber,
  optionalText,
  SERVER_URL,
  text,
  textMap,
  texts,
  type ValuesOf,
  VARIABLE_NAME,
} from "./setting.ts";

/**
 * Every setting of `.fluzo`, once. Loading, checking, `config show`, the documentation and the
 * screens come from here; there is no other list of keys, types or defaults.
 */

/** The version of the file's format that this Fluzo writes and reads. */
export const SCHEMA_VERSION = 1;

const DECISIONS = ["allow", "ask", "deny"] as const;
const MEBIBYTE = 1 << 20;
const GIBIBYTE = 1 << 30;
/** The largest byte count a setting may have: beyond any disk this runs on. */
const MAX_BYTES = 2 ** 50;

const PROJECT = {
  name: text("What this project is called on screens.", { default: "project", applies: "live" }),
} as const satisfies Fields;

const AGENT = {
  runtime: choice("Who carries out tasks.", { options: ["native"], default: "native" }),
  model: text("The model tasks run on: a key below models.", { default: "coder" }),
} as const satisfies Fields;

const TIMEOUTS = {
  connect_seconds: integer(
    "Longest wait for the connection. Part of first_output_seconds where it cannot be told apart.",
    { unit: "s", minimum: 1, maximum: 3600, default: 10 },
  ),
  first_output_seconds: integer(
    "Longest wait for the first output. Raise it for servers that load models on demand.",
    { unit: "s", minimum: 1, maximum: 7200, default: 90 },
  ),
  idle_seconds: integer("Longest pause within an answer.", {
    unit: "s",
    minimum: 1,
    maximum: 3600,
    default: 30,
  }),
  request_seconds: integer("Longest time for a whole answer.", {
    unit: "s",
    minimum: 1,
    maximum: 86_400,
    default: 180,
  }),
} as const satisfies Fields;

/** How a server knows us: the same for every kind of model. */
const AUTHENTICATION = {
  auth: choice("Where the key comes from.", {
    options: ["none", "env", "credential"],
    default: "none",
    consent: true,
  }),
  api_key_env: optionalText('For auth = "env": the variable that holds the key.', {
    rule: VARIABLE_NAME,
    consent: true,
  }),
  credential_ref: optionalText('For auth = "credential": the entry in your auth file.', {
    consent: true,
  }),
} as const satisfies Fields;

/** Where requests are counted: the same for every kind of model. */
const CAPACITY = {
  capacity_id: optionalText("Models with the same capacity_id share their slots.", {}),
  pool: optionalText("The capacity pool: a key below capacity_pools.", {}),
  max_in_flight: integer("Requests at once to this model.", {
    minimum: 1,
    maximum: 256,
    default: 1,
  }),
} as const satisfies Fields;

const CHAT_MODEL = {
  provider: choice("The protocol of the server.", {
    options: ["openai_compatible"],
    consent: true,
  }),
  base_url: text("The server's address, usually ending in /v1.", {
    rule: SERVER_URL,
    consent: true,
    sensitive: true,
  }),
  model: text("The id the server knows the model by.", { consent: true }),
  ...AUTHENTICATION,
  context_window: integer("Tokens the server serves for input and output together.", {
    unit: "tokens",
    minimum: 2048,
    maximum: 16_777_216,
    default: 32_768,
  }),
  max_output_tokens: integer("Most tokens of one answer.", {
    unit: "tokens",
    minimum: 64,
    maximum: 1_048_576,
    default: 4096,
  }),
  max_tokens_field: choice("How the server wants the output limit to be called.", {
    options: ["max_tokens", "max_completion_tokens"],
    default: "max_tokens",
  }),
  stream: boolean("Ask for a streamed answer.", { default: true }),
  stream_usage: boolean("Ask for the token usage of a streamed answer.", { default: true }),
  replay_reasoning: boolean("Send the model's earlier reasoning back to it.", { default: false }),
  temperature: optionalNumber("Sampling temperature; left to the server if not given.", {
    minimum: 0,
    maximum: 5,
  }),
  ...CAPACITY,
} as const satisfies Fields;

const DECISION_MODEL = {
  provider: choice("The protocol of the server.", { options: ["laya_systemone"], consent: true }),
  endpoint: text("The full address of the decision endpoint.", {
    rule: SERVER_URL,
    consent: true,
    sensitive: true,
  }),
  ...AUTHENTICATION,
  ...CAPACITY,
} as const satisfies Fields;

const CAPACITY_POOL = {
  max_in_flight: integer("Requests at once to all models of the pool, by this Fluzo.", {
    minimum: 1,
    maximum: 256,
    default: 1,
  }),
  foreground_reserved_slots: integer("Slots that observations leave free.", {
    minimum: 0,
    maximum: 256,
    default: 1,
  }),
  queue_capacity: integer("Requests that may wait.", { minimum: 0, maximum: 1024, default: 8 }),
  queue_timeout_seconds: integer("Longest wait for a slot.", {
    unit: "s",
    minimum: 1,
    maximum: 3600,
    default: 30,
  }),
} as const satisfies Fields;

const DECISION = {
  enabled: boolean("Ask a decision model for observations.", { default: false, consent: true }),
  mode: choice("How an observation may be used: it is only recorded.", {
    options: ["shadow"],
    default: "shadow",
  }),
  model: optionalText("The decision model: a key below models.", {}),
  timeout_seconds: integer("Longest wait for an observation.", {
    unit: "s",
    minimum: 1,
    maximum: 300,
    default: 5,
  }),
  max_observations_per_task: integer("Most observations of one task.", {
    minimum: 0,
    maximum: 1000,
    default: 30,
  }),
  failure_pause_threshold: integer("Failures in a row after which observing pauses.", {
    minimum: 1,
    maximum: 100,
    default: 3,
  }),
} as const satisfies Fields;

const HARNESS = {
  max_turns: integer("Most exchanges with the model in one task.", {
    minimum: 1,
    maximum: 10_000,
    default: 30,
  }),
  max_active_seconds: integer("Longest working time of a task, waits for you left out.", {
    unit: "s",
    minimum: 1,
    maximum: 604_800,
    default: 1200,
  }),
  shell_timeout_seconds: integer(
    "Longest run of one command, if the model does not ask for more.",
    {
      unit: "s",
      minimum: 1,
      maximum: 86_400,
      default: 120,
    },
  ),
  provider_retries: integer("Further tries after a safe transient failure.", {
    minimum: 0,
    maximum: 2,
    default: 2,
  }),
  max_tool_calls: integer("Most tool calls of one task.", {
    minimum: 1,
    maximum: 100_000,
    default: 100,
  }),
  max_total_tokens: integer("Most tokens of one task, input and output of every request.", {
    unit: "tokens",
    minimum: 1000,
    maximum: 1_000_000_000,
    default: 200_000,
  }),
} as const satisfies Fields;

const VERIFY = {
  command: texts("Program and arguments that prove a task; Fluzo runs it itself.", {
    default: [],
    consent: true,
  }),
} as const satisfies Fields;

const TOOLS_SHELL = {
  stdin: choice("Standard input of commands.", {
    options: ["closed"],
    default: "closed",
    consent: true,
  }),
  termination_grace_seconds: integer("Time between asking a command to end and killing it.", {
    unit: "s",
    minimum: 0,
    maximum: 60,
    default: 5,
  }),
  inherit_env: texts("Variables of your environment that commands get besides the baseline.", {
    default: [],
    consent: true,
  }),
  env: textMap("Variables that commands get with these values.", {
    default: {},
    consent: true,
    sensitive: true,
  }),
} as const satisfies Fields;

const POLICY = {
  edit: choice("Changes of files by file tools.", {
    options: DECISIONS,
    default: "allow",
    consent: true,
  }),
  shell: choice("Commands, with or without a shell.", {
    options: DECISIONS,
    default: "ask",
    consent: true,
  }),
  tool_network: choice("Network use by Fluzo's own tools; commands are not sandboxed.", {
    options: ["deny"],
    default: "deny",
    consent: true,
  }),
  git_commit: choice("Commands that commit.", {
    options: DECISIONS,
    default: "ask",
    consent: true,
  }),
  git_push: choice("Commands that push.", { options: DECISIONS, default: "ask", consent: true }),
  allow_exec: texts(
    "Commands that run without asking, each exactly as written, as for --allow-exec.",
    { default: [], consent: true },
  ),
} as const satisfies Fields;

const CONTEXT = {
  compaction_threshold: number(
    "Share of the available input at which older history is summarised.",
    {
      minimum: 0.1,
      maximum: 0.95,
      default: 0.8,
    },
  ),
  compaction_max_output_tokens: integer("Most tokens of one summary.", {
    unit: "tokens",
    minimum: 64,
    maximum: 65_536,
    default: 2048,
  }),
  tool_context_max_bytes: integer("Most of one tool result that the model reads.", {
    unit: "bytes",
    minimum: 1024,
    maximum: 4 * MEBIBYTE,
    default: 65_536,
  }),
  tool_capture_max_bytes: integer("Most of one command's output that is kept.", {
    unit: "bytes",
    minimum: 4096,
    maximum: 256 * MEBIBYTE,
    default: 2 * MEBIBYTE,
  }),
} as const satisfies Fields;

const STORAGE = {
  auto_expire: boolean("Whether records expire by themselves; they never do.", { default: false }),
  session_max_bytes: integer("Records after which no new task begins.", {
    unit: "bytes",
    minimum: MEBIBYTE,
    maximum: MAX_BYTES,
    default: 10 * GIBIBYTE,
  }),
  diagnostic_max_bytes: integer("Local diagnostics after which no more are kept.", {
    unit: "bytes",
    minimum: MEBIBYTE,
    maximum: MAX_BYTES,
    default: 2 * GIBIBYTE,
  }),
  min_free_bytes: integer("Free space below which no new task begins.", {
    unit: "bytes",
    minimum: MEBIBYTE,
    maximum: MAX_BYTES,
    default: GIBIBYTE,
  }),
} as const satisfies Fields;

const TELEMETRY = {
  export_enabled: boolean("Send telemetry to the collector.", {
    default: false,
    applies: "safe_boundary",
    consent: true,
  }),
  otlp_protocol: choice("How telemetry is sent.", {
    options: ["http/protobuf"],
    default: "http/protobuf",
    applies: "safe_boundary",
  }),
  otlp_endpoint: text("The collector's address.", {
    rule: SERVER_URL,
    default: "http://127.0.0.1:4318",
    applies: "safe_boundary",
    consent: true,
    sensitive: true,
  }),
  capture_content: boolean("Put prompts, answers and tool data into telemetry.", {
    default: false,
    applies: "safe_boundary",
    consent: true,
  }),
} as const satisfies Fields;

const TUI = {
  theme: choice("Colours.", {
    options: ["default", "high_contrast"],
    default: "default",
    applies: "live",
  }),
  animation_fps: integer("Frames per second of animations; 0 turns them off.", {
    unit: "frames/s",
    minimum: 0,
    maximum: 60,
    default: 60,
    applies: "live",
  }),
  reduced_motion: boolean("Show no motion that is not needed.", {
    default: false,
    applies: "live",
  }),
  dev_menu: boolean("Offer the developer menu.", { default: false, applies: "live" }),
} as const satisfies Fields;

const TUI_NOTIFICATIONS = {
  desktop_enabled: boolean("Also notify through the desktop.", { default: false, applies: "live" }),
  duration_seconds: integer("How long a notification stays.", {
    unit: "s",
    minimum: 1,
    maximum: 60,
    default: 5,
    applies: "live",
  }),
  max_visible: integer("Notifications shown at once.", {
    minimum: 1,
    maximum: 10,
    default: 3,
    applies: "live",
  }),
} as const satisfies Fields;

const TUI_FLAGS = {
  render_diagnostics: boolean("Show how long frames take.", { default: false, applies: "live" }),
} as const satisfies Fields;

/** Tables with a fixed name. A dotted name is a table within a table. */
export const SECTIONS = {
  "project": PROJECT,
  "agent": AGENT,
  "decision": DECISION,
  "harness": HARNESS,
  "verify": VERIFY,
  "tools.shell": TOOLS_SHELL,
  "policy": POLICY,
  "context": CONTEXT,
  "storage": STORAGE,
  "telemetry": TELEMETRY,
  "tui": TUI,
  "tui.notifications": TUI_NOTIFICATIONS,
  "tui.flags": TUI_FLAGS,
} as const satisfies Readonly<Record<string, Fields>>;

/** What a model entry may hold, by its `provider`. */
export const MODEL_VARIANTS = {
  openai_compatible: CHAT_MODEL,
  laya_systemone: DECISION_MODEL,
} as const satisfies Readonly<Record<string, Fields>>;

/** The table `models.<id>.timeouts` of a chat model. */
export const MODEL_TIMEOUTS = TIMEOUTS;

/** What an entry of `capacity_pools` may hold. */
export const POOL_FIELDS = CAPACITY_POOL;

/** A pool of a model that names none. */
export const DEFAULT_POOL: PoolSettings = {
  max_in_flight: POOL_FIELDS.max_in_flight.default ?? 1,
  foreground_reserved_slots: POOL_FIELDS.foreground_reserved_slots.default ?? 1,
  queue_capacity: POOL_FIELDS.queue_capacity.default ?? 0,
  queue_timeout_seconds: POOL_FIELDS.queue_timeout_seconds.default ?? 1,
};

export type ChatModelSettings = ValuesOf<typeof CHAT_MODEL> & {
  readonly timeouts: ValuesOf<typeof TIMEOUTS>;
};
export type DecisionModelSettings = ValuesOf<typeof DECISION_MODEL>;
export type ModelSettings = ChatModelSettings | DecisionModelSettings;
export type PoolSettings = ValuesOf<typeof CAPACITY_POOL>;

/** The effective settings: the file over the defaults, by the names they have in the file. */
export interface Settings {
  readonly schema_version: typeof SCHEMA_VERSION;
  readonly project: ValuesOf<typeof PROJECT>;
  readonly agent: ValuesOf<typeof AGENT>;
  readonly models: Readonly<Record<string, ModelSettings>>;
  readonly capacity_pools: Readonly<Record<string, PoolSettings>>;
  readonly decision: ValuesOf<typeof DECISION>;
  readonly harness: ValuesOf<typeof HARNESS>;
  readonly verify: ValuesOf<typeof VERIFY>;
  readonly tools: { readonly shell: ValuesOf<typeof TOOLS_SHELL> };
  readonly policy: ValuesOf<typeof POLICY>;
  readonly context: ValuesOf<typeof CONTEXT>;
  readonly storage: ValuesOf<typeof STORAGE>;
  readonly telemetry: ValuesOf<typeof TELEMETRY>;
  readonly tui: ValuesOf<typeof TUI> & {
    readonly notifications: ValuesOf<typeof TUI_NOTIFICATIONS>;
    readonly flags: ValuesOf<typeof TUI_FLAGS>;
  };
}
