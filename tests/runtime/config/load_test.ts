import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { validateSettings } from "../../../src/core/settings/validate.ts";
import { findWorkspaceRoot } from "../../../src/runtime/config/find_workspace.ts";
import { generateConfig } from "../../../src/runtime/config/generate.ts";
import { loadConfig } from "../../../src/runtime/config/load.ts";
import { userPaths } from "../../../src/runtime/config/paths.ts";
import { tomlPlaces } from "../../../src/runtime/config/toml_places.ts";
import { TestFolder } from "../../support/repository.ts";

const MINIMAL = `schema_version = 1
[models.coder]
provider = "openai_compatible"
base_url = "http://127.0.0.1:8080/v1"
model = "m"
`;

Deno.test("loadConfig() takes a regular file, with CRLF, a byte order mark and tabs", async () => {
  using folder = new TestFolder();
  for (
    const text of [
      MINIMAL,
      MINIMAL.replaceAll("\n", "\r\n"),
      `\ufeff${MINIMAL}`,
      MINIMAL.replaceAll(" = ", "\t=\t"),
    ]
  ) {
    folder.write("c", text);
    assert.ok((await loadConfig(`${folder.path}/c`, [])).ok, JSON.stringify(text.slice(0, 20)));
  }
});

Deno.test("loadConfig() asks for a file where there is none, or a folder of that name", async () => {
  using folder = new TestFolder();
  Deno.mkdirSync(`${folder.path}/.fluzo`);
  for (const name of ["missing", ".fluzo"]) {
    const loaded = await loadConfig(`${folder.path}/${name}`, []);
    assert.ok(!loaded.ok && loaded.error.type === "configuration_required", name);
  }
});

Deno.test("loadConfig() says why a file cannot be used", async () => {
  using folder = new TestFolder();
  folder.write("real", MINIMAL);
  Deno.symlinkSync("real", `${folder.path}/link`);
  folder.write("latin1", new Uint8Array([...new TextEncoder().encode("# caf"), 0xe9, 10]));
  folder.write("huge", "#".repeat((1 << 20) + 1));
  folder.write("syntax", `${MINIMAL}oops\n`);
  folder.write("twice", `${MINIMAL}model = "n"\n`);
  const cases: readonly (readonly [string, RegExp, number])[] = [
    ["link", /is a link/, 0],
    ["latin1", /is not UTF-8/, 0],
    ["huge", /larger than/, 0],
    ["syntax", /is not TOML/, 6],
    ["twice", /is not TOML: .*redefine/i, 6],
  ];
  for (const [name, reason, line] of cases) {
    const loaded = await loadConfig(`${folder.path}/${name}`, []);
    assert.ok(!loaded.ok && loaded.error.type === "configuration_invalid", name);
    assert.match(loaded.error.problems[0]?.reason ?? "", reason);
    assert.equal(loaded.error.problems[0]?.line, line, name);
  }
});

Deno.test("loadConfig() lets a flag beat the file", async () => {
  using folder = new TestFolder();
  folder.write("c", `${MINIMAL}[harness]\nmax_turns = 5\n`);
  const loaded = await loadConfig(`${folder.path}/c`, [
    { path: ["harness", "max_turns"], value: 7, flag: "--max-turns" },
  ]);
  assert.ok(loaded.ok);
  assert.equal(loaded.value.settings.harness.max_turns, 7);
  assert.equal(loaded.value.settings.models["coder"]?.provider, "openai_compatible");
});

Deno.test("generateConfig() writes what loads to exactly what was chosen", () => {
  const text = generateConfig({
    projectName: 'odd "name" \\ here',
    baseUrl: "http://127.0.0.1:8080/v1",
    model: "qwen/x:7b",
    contextWindow: 16_384,
    apiKeyEnv: "MY_KEY",
    verification: ["deno", "test", "a b"],
  });
  const loaded = validateSettings(parse(text), tomlPlaces(text));
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const { models, verify, project } = loaded.value;
  const model = models["coder"];
  assert.ok(model?.provider === "openai_compatible");
  assert.deepEqual([model.base_url, model.model, model.context_window, model.api_key_env], [
    "http://127.0.0.1:8080/v1",
    "qwen/x:7b",
    16_384,
    "MY_KEY",
  ]);
  assert.deepEqual(verify.command, ["deno", "test", "a b"]);
  assert.equal(project.name, 'odd "name" \\ here');
});

Deno.test("findWorkspaceRoot() goes up to the repository or the configuration, never down", async () => {
  using folder = new TestFolder();
  folder.commit({ "a/b/c.txt": "1" });
  folder.write("sub/.fluzo", "schema_version = 1\n");
  folder.write("sub/deep/x", "1");
  Deno.mkdirSync(`${folder.path}/a/.fluzo`);
  assert.equal(await findWorkspaceRoot(`${folder.path}/a/b`), folder.path);
  assert.equal(await findWorkspaceRoot(`${folder.path}/sub/deep`), `${folder.path}/sub`);
  using plain = new TestFolder();
  plain.write("x/y", "1");
  assert.equal(await findWorkspaceRoot(`${plain.path}/x`), `${plain.path}/x`);
  plain.write("linked/.git", "gitdir: elsewhere\n");
  assert.equal(await findWorkspaceRoot(`${plain.path}/linked`), `${plain.path}/linked`);
});

Deno.test("userPaths() takes absolute XDG folders only", () => {
  const paths = userPaths({ home: "/home/u", configHome: "relative", stateHome: "/state/" });
  assert.equal(paths?.credentials, "/home/u/.config/fluzo/auth.toml");
  assert.equal(paths?.consent, "/state/fluzo/consent");
  assert.equal(userPaths({ home: null, configHome: null, stateHome: null }), null);
});
