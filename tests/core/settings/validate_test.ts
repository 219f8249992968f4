import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { consentItems, fingerprintText } from "../../../src/core/settings/consent_items.ts";
import { allKeys, knownTables, settingAt } from "../../../src/core/settings/keys.ts";
import type { Settings } from "../../../src/core/settings/registry.ts";
import { validateSettings } from "../../../src/core/settings/validate.ts";
import { tomlPlaces } from "../../../src/runtime/config/toml_places.ts";

const EXAMPLE = Deno.readTextFileSync(new URL("example.toml", import.meta.url));

const MINIMAL = `schema_version = 1
[models.coder]
provider = "openai_compatible"
base_url = "http://127.0.0.1:8080/v1"
model = "m"
`;

function load(text: string) {
  return validateSettings(parse(text), tomlPlaces(text));
}

function settingsOf(text: string): Settings {
  const loaded = load(text);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.value;
}

Deno.test("validateSettings() takes the example of the specification as it is", () => {
  const settings = settingsOf(EXAMPLE);
  assert.equal(settings.agent.model, "coder");
  assert.equal(settings.harness.max_turns, 30);
  assert.deepEqual(settings.verify.command, ["deno", "test"]);
  assert.deepEqual(settings.tools.shell.env, { RUST_BACKTRACE: "1" });
  assert.equal(settings.tui.notifications.max_visible, 3);
  assert.equal(settings.capacity_pools["local_server"]?.queue_timeout_seconds, 30);
});

Deno.test("the defaults are the values that the example states", () => {
  const stated: unknown = parse(EXAMPLE);
  // What the example sets for its own project and not as a default.
  const own = new Set([
    "project.name",
    "verify.command",
    "tools.shell.env",
    "decision.model",
    "models.<id>.provider",
    "models.<id>.base_url",
    "models.<id>.endpoint",
    "models.<id>.model",
    "models.<id>.capacity_id",
    "models.<id>.pool",
  ]);
  let compared = 0;
  for (const { name, fields, variant } of knownTables()) {
    const id = name.startsWith("models")
      ? (variant === "laya_systemone" ? "laya" : "coder")
      : "local_server";
    let table: unknown = stated;
    for (const part of name.replace("<id>", id).split(".")) {
      table = (table as Record<string, unknown> | undefined)?.[part];
    }
    for (const [key, setting] of Object.entries(fields)) {
      const value = (table as Record<string, unknown> | undefined)?.[key];
      if (value === undefined || own.has(`${name}.${key}`)) continue;
      assert.deepEqual(setting.default, value, `${name}.${key}`);
      compared++;
    }
  }
  assert.ok(compared > 45, `${compared} compared`);
});

Deno.test("every key of the registry is in the effective settings, with its default", () => {
  const settings = settingsOf(`${MINIMAL}[models.laya]
provider = "laya_systemone"
endpoint = "http://127.0.0.1:1/x"
[capacity_pools.p]
`);
  for (const { name, fields, variant } of knownTables()) {
    const id = name.startsWith("capacity_pools")
      ? "p"
      : variant === "laya_systemone"
      ? "laya"
      : "coder";
    let table: unknown = settings;
    for (const part of name.replace("<id>", id).split(".")) {
      table = (table as Record<string, unknown>)[part];
    }
    for (const [key, setting] of Object.entries(fields)) {
      const value = (table as Record<string, unknown>)[key];
      assert.notEqual(value, undefined, `${name}.${key}`);
      if (setting.default !== undefined) assert.deepEqual(value, setting.default, `${name}.${key}`);
      assert.notEqual(setting.text, "");
    }
  }
  assert.ok(new Set(allKeys()).size > 60, `${new Set(allKeys()).size} keys`);
});

/** Each row: what is added to a minimal file, and every problem as `line:column key reason`. */
const BROKEN: readonly (readonly [name: string, text: string, problems: readonly RegExp[]])[] = [
  ["no version", MINIMAL.replace("schema_version = 1", ""), [/^0:0 schema_version is missing/]],
  ["a newer version", MINIMAL.replace("= 1", "= 2"), [/^1:1 schema_version is 2, but this Fluzo/]],
  ["a version that is none", MINIMAL.replace("= 1", '= "1"'), [
    /^1:1 schema_version must be a whole/,
  ]],
  ["base_url at the top", `base_url = "http://x"\n${MINIMAL}`, [
    /^1:1 base_url is not a setting here \(it belongs into \[models\.<id>\]\)/,
  ]],
  ["a typo at the top", `${MINIMAL}[harnes]\n`, [
    /^6:1 harnes is not a setting \(did you mean "harness"\)/,
  ]],
  ["a typo in a table", `${MINIMAL}modle = "x"\n`, [
    /^6:1 models\.coder\.modle is not a setting \(did you mean "model"\)/,
  ]],
  ["a key of another table", `${MINIMAL}[policy]\nmax_turns = 3\n`, [
    /^7:1 policy\.max_turns .*\[harness\]/,
  ]],
  ["an unknown key", `${MINIMAL}[policy]\nxyzzy = 3\n`, [
    /^7:1 policy\.xyzzy is not a setting here$/,
  ]],
  ["a table that is none", `${MINIMAL}[tools]\nshell = 1\n`, [/^7:1 tools\.shell must be a table/]],
  ["an unknown tool", `${MINIMAL}[tools.browser]\n`, [/^6:1 tools\.browser is not a setting/]],
  ["a text for a number", `${MINIMAL}[harness]\nmax_turns = "3"\n`, [
    /^7:1 harness\.max_turns must be a whole number/,
  ]],
  ["a fraction for a whole number", `${MINIMAL}[harness]\nmax_turns = 1.5\n`, [
    /^7:1 harness\.max_turns must be a whole number/,
  ]],
  ["below the range", `${MINIMAL}[harness]\nmax_turns = 0\n`, [
    /^7:1 harness\.max_turns must be 1 to 10000/,
  ]],
  ["above the range", `${MINIMAL}[harness]\nprovider_retries = 3\n`, [/must be 0 to 2/]],
  ["nan", `${MINIMAL}[context]\ncompaction_threshold = nan\n`, [
    /^7:1 context\.compaction_threshold must be a number/,
  ]],
  ["infinity", `${MINIMAL}[context]\ncompaction_threshold = inf\n`, [/must be a number/]],
  ["a number for a boolean", `${MINIMAL}[tui]\ndev_menu = 1\n`, [
    /^7:1 tui\.dev_menu must be true or false/,
  ]],
  ["an unknown choice", `${MINIMAL}[policy]\nshell = "maybe"\n`, [
    /must be "allow" or "ask" or "deny"/,
  ]],
  ["a date for a text", `${MINIMAL}[project]\nname = 2020-01-01\n`, [
    /^7:1 project\.name must be a text/,
  ]],
  ["an empty text", `${MINIMAL}[project]\nname = ""\n`, [
    /must be a text without control characters/,
  ]],
  ["a control character", `${MINIMAL}[project]\nname = "a\\u001bb"\n`, [
    /without control characters/,
  ]],
  ["a text for a list", `${MINIMAL}[verify]\ncommand = "deno test"\n`, [
    /^7:1 verify\.command must be a list of texts/,
  ]],
  ["a list of numbers", `${MINIMAL}[verify]\ncommand = [1]\n`, [/must be a list of texts/]],
  ["a list for a table", `${MINIMAL}[tools.shell]\nenv = ["A"]\n`, [/must be a table of texts/]],
  ["a model without provider", 'schema_version = 1\n[models.coder]\nmodel = "m"\n', [
    /^2:1 models\.coder\.provider is missing \(use openai_compatible or laya_systemone\)/,
  ]],
  ["an unknown provider", MINIMAL.replace('"openai_compatible"', '"other"'), [
    /^3:1 models\.coder\.provider is not a known provider/,
  ]],
  ["a model without address", MINIMAL.replace(/base_url.*\n/, ""), [
    /^2:1 models\.coder\.base_url is missing/,
  ]],
  ["an address that is no URL", MINIMAL.replace("http://127.0.0.1:8080/v1", "localhost:8080"), [
    /must be an http or https URL/,
  ]],
  ["user information in the address", MINIMAL.replace("127", "user:pw@127"), [
    /without user information/,
  ]],
  ["a query in the address", MINIMAL.replace("/v1", "/v1?key=x"), [/must be an http or https URL/]],
  ["a model that does not exist", `${MINIMAL}[agent]\nmodel = "other"\n`, [
    /^7:1 agent\.model names no model: there is coder/,
  ]],
  [
    "a decision model as main model",
    `${MINIMAL}[models.d]\nprovider = "laya_systemone"\nendpoint = "http://x"\n[agent]\nmodel = "d"\n`,
    [/must name a model that can chat/],
  ],
  ["no model at all", "schema_version = 1\n", [/agent\.model names no model: there is none/]],
  ["a pool that does not exist", `${MINIMAL}pool = "p"\n`, [
    /^6:1 models\.coder\.pool names no pool: there is none/,
  ]],
  ["env without a variable", `${MINIMAL}auth = "env"\n`, [
    /models\.coder\.api_key_env is missing: auth is "env"/,
  ]],
  ["a variable without env", `${MINIMAL}api_key_env = "K"\n`, [
    /^6:1 models\.coder\.api_key_env has no effect/,
  ]],
  ["a variable that is no name", `${MINIMAL}auth = "env"\napi_key_env = "a-b"\n`, [
    /must be the name of an environment variable/,
  ]],
  ["a credential without reference", `${MINIMAL}auth = "credential"\n`, [
    /credential_ref is missing/,
  ]],
  ["no room for input", `${MINIMAL}context_window = 4096\nmax_output_tokens = 4096\n`, [
    /^7:1 models\.coder\.max_output_tokens leaves no room for input/,
  ]],
  ["output beyond the budget", `${MINIMAL}context_window = 1000000\nmax_output_tokens = 250000\n`, [
    /less than harness\.max_total_tokens/,
  ]],
  [
    "an idle limit beyond the request's",
    `${MINIMAL}[models.coder.timeouts]\nidle_seconds = 500\n`,
    [/^7:1 models\.coder\.timeouts\.idle_seconds must not be more than request_seconds/],
  ],
  ["more reserved than there is", `${MINIMAL}[capacity_pools.p]\nforeground_reserved_slots = 2\n`, [
    /must not be more than max_in_flight/,
  ]],
  [
    "an unusable id",
    MINIMAL.replace("models.coder", 'models."a b"'),
    [/models\.a b is not a usable id/, /agent\.model/].slice(0, 1),
  ],
  ["observations without a model", `${MINIMAL}[decision]\nenabled = true\n`, [
    /decision\.model must name a laya_systemone model/,
  ]],
  ["more context than capture", `${MINIMAL}[context]\ntool_context_max_bytes = 3000000\n`, [
    /must not be more than tool_capture_max_bytes/,
  ]],
  ["a variable name that is none", `${MINIMAL}[tools.shell]\ninherit_env = ["A B"]\n`, [
    /"A B" is not a variable name/,
  ]],
  [
    "a standing grant for a script",
    `${MINIMAL}[policy]\nallow_exec = ["deno test", "make && make install"]\n`,
    [/"make && make install" is no command that can be allowed: Unquoted "&"/],
  ],
  ["a verification without program", `${MINIMAL}[verify]\ncommand = [""]\n`, [
    /must begin with a program/,
  ]],
  [
    "several problems at once",
    `${MINIMAL}[harness]\nmax_turns = 0\nx = 1\n[tui]\ntheme = "pink"\n`,
    [/max_turns/, /harness\.x/, /tui\.theme/],
  ],
];

for (const [name, text, expected] of BROKEN) {
  Deno.test(`validateSettings() names what is wrong: ${name}`, () => {
    const loaded = load(text);
    assert.ok(!loaded.ok, "it was accepted");
    const problems = loaded.error.map(({ line, column, key, reason, hint }) =>
      `${line}:${column} ${key} ${reason}${hint === null ? "" : ` (${hint})`}`
    );
    for (const pattern of expected) {
      assert.ok(problems.some((problem) => pattern.test(problem)), problems.join("\n"));
    }
    assert.equal(problems.length, expected.length, problems.join("\n"));
  });
}

Deno.test("validateSettings() never repeats a value that may be sensitive", () => {
  const loaded = load(MINIMAL.replace("http://127.0.0.1:8080/v1", "http://user:SENTINEL@host/v1"));
  assert.ok(!loaded.ok);
  assert.doesNotMatch(JSON.stringify(loaded.error), /SENTINEL/);
});

Deno.test("tomlPlaces() finds keys in every form TOML has", () => {
  const text = [
    "# a comment = 1",
    'a = "x # not = a comment"',
    "[b.c] # table",
    'd.e = { f = 1, "g h" = [1, 2] }',
    "m = '''",
    "n = 5",
    "'''",
    "[[k]]",
    "l = [",
    "  1, # one = 1",
    "]",
    "[[k]]",
    "l = 2",
    '"quoted.key" = 3',
  ].join("\r\n");
  const places = tomlPlaces(text);
  const at = (...path: string[]) => {
    const place = places.at(path);
    return place === null ? null : `${place.line}:${place.column}`;
  };
  assert.equal(at("a"), "2:1");
  assert.equal(at("b", "c"), "3:1");
  assert.equal(at("b", "c", "d", "e"), "4:1");
  assert.equal(at("b", "c", "d", "e", "f"), "4:9");
  assert.equal(at("b", "c", "d", "e", "g h"), "4:16");
  assert.equal(at("b", "c", "m"), "5:1");
  assert.equal(at("b", "c", "n"), null);
  assert.equal(at("k", "0", "l"), "9:1");
  assert.equal(at("k", "1", "l"), "13:1");
  assert.equal(at("k", "1", "quoted.key"), "14:1");
  assert.equal(at("one"), null);
});

Deno.test("consentItems() holds everything that could send, run or widen, and nothing else", () => {
  const items = consentItems(settingsOf(EXAMPLE)).map(({ key }) => key);
  for (
    const key of [
      "models.coder.base_url",
      "models.laya.endpoint",
      "verify.command",
      "policy.shell",
      "tools.shell.env",
      "telemetry.capture_content",
      "models.coder.api_key_env",
    ]
  ) {
    assert.ok(items.includes(key), key);
  }
  for (const key of items) {
    const path = key.split(".");
    const provider = key.startsWith("models.laya") ? "laya_systemone" : "openai_compatible";
    assert.equal(settingAt(path, provider)?.consent, true, key);
  }
});

Deno.test("fingerprintText() changes with what matters and with nothing else", () => {
  const base = fingerprintText(settingsOf(EXAMPLE));
  const changed = (from: string, to: string) => {
    assert.ok(EXAMPLE.includes(from), from);
    return fingerprintText(settingsOf(EXAMPLE.replace(from, to))) !== base;
  };
  assert.equal(changed('theme = "default"', 'theme = "high_contrast"'), false);
  assert.equal(changed("max_turns = 30", "max_turns = 31"), false);
  assert.equal(changed("animation_fps = 60", "animation_fps = 0"), false);
  assert.equal(changed("8080/v1", "8081/v1"), true);
  assert.equal(changed('["deno", "test"]', '["deno", "task", "test"]'), true);
  assert.equal(changed('shell = "ask"', 'shell = "allow"'), true);
  assert.equal(changed('RUST_BACKTRACE = "1"', 'RUST_BACKTRACE = "2"'), true);
  assert.equal(changed("inherit_env = []", 'inherit_env = ["A"]'), true);
  assert.equal(changed("export_enabled = false", "export_enabled = true"), true);
  assert.equal(changed("capture_content = false", "capture_content = true"), true);
});
