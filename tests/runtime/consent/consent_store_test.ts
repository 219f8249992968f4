import assert from "node:assert/strict";
import { parse } from "smol-toml";
import type { Settings } from "../../../src/core/settings/registry.ts";
import { validateSettings } from "../../../src/core/settings/validate.ts";
import { ConsentStore, isLoopback } from "../../../src/runtime/consent/consent_store.ts";
import { resolveCredential } from "../../../src/runtime/consent/credentials.ts";
import { workspaceId, workspaceIdentity } from "../../../src/runtime/workspace/identity.ts";
import { TestFolder } from "../../support/repository.ts";

function settings(
  { url = "http://127.0.0.1:8080/v1", more = "", auth = "" }: {
    readonly url?: string;
    readonly more?: string;
    readonly auth?: string;
  } = {},
): Settings {
  const text =
    `schema_version = 1\n[models.coder]\nprovider = "openai_compatible"\nbase_url = "${url}"\n` +
    `model = "m"\n${auth}\n${more}`;
  const loaded = validateSettings(parse(text), { at: () => null });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.value;
}

async function granted(folder: TestFolder, workspace: TestFolder, given: Settings) {
  const store = new ConsentStore(`${folder.path}/state/consent`);
  const identity = await workspaceIdentity(workspace.path);
  await store.grant(identity, { settings: given, insecureOrigins: [] });
  return { store, identity };
}

Deno.test("ConsentStore keeps an agreement for exactly these settings in this workspace", async () => {
  using home = new TestFolder();
  using workspace = new TestFolder();
  const { store, identity } = await granted(home, workspace, settings());
  assert.equal((await store.status(identity, settings())).type, "granted");
  const theme = await store.status(identity, settings({ more: '[tui]\ntheme = "high_contrast"' }));
  assert.equal(theme.type, "granted");
  const port = await store.status(identity, settings({ url: "http://127.0.0.1:8081/v1" }));
  assert.ok(port.type === "changed");
  assert.deepEqual(port.changed, ["models.coder.base_url"]);
  assert.equal(await store.revoke(identity), true);
  assert.equal(await store.revoke(identity), false);
  assert.equal((await store.status(identity, settings())).type, "missing");
});

Deno.test("a copied workspace carries no agreement", async () => {
  using home = new TestFolder();
  using workspace = new TestFolder();
  const { store, identity } = await granted(home, workspace, settings());
  using copy = new TestFolder();
  const other = await workspaceIdentity(copy.path);
  assert.equal((await store.status(other, settings())).type, "missing");
  // The same path with another folder in it is another workspace too.
  Deno.removeSync(workspace.path, { recursive: true });
  Deno.mkdirSync(workspace.path);
  const replaced = await workspaceIdentity(workspace.path);
  assert.notDeepEqual(replaced, identity);
  assert.equal((await store.status(replaced, settings())).type, "missing");
  assert.notEqual(await workspaceId(replaced), await workspaceId(identity));
});

Deno.test("a record put there by hand for another workspace counts for nothing", async () => {
  using home = new TestFolder();
  using workspace = new TestFolder();
  const { store, identity } = await granted(home, workspace, settings());
  const [file] = [...Deno.readDirSync(`${home.path}/state/consent`)];
  using other = new TestFolder();
  const target = await workspaceIdentity(other.path);
  await store.grant(target, {
    settings: settings({ url: "http://127.0.0.1:1/v1" }),
    insecureOrigins: [],
  });
  const names = [...Deno.readDirSync(`${home.path}/state/consent`)].map(({ name }) => name);
  const forged = names.find((name) => name !== file?.name);
  Deno.copyFileSync(
    `${home.path}/state/consent/${file?.name}`,
    `${home.path}/state/consent/${forged}`,
  );
  assert.equal((await store.status(target, settings())).type, "missing");
  assert.equal((await store.status(identity, settings())).type, "granted");
});

Deno.test("the record is private, and one that is not is refused with the repair", async () => {
  using home = new TestFolder();
  using workspace = new TestFolder();
  const { store, identity } = await granted(home, workspace, settings());
  const folder = `${home.path}/state/consent`;
  const path = `${folder}/${[...Deno.readDirSync(folder)][0]?.name}`;
  assert.equal((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  assert.equal((Deno.statSync(folder).mode ?? 0) & 0o777, 0o700);
  Deno.chmodSync(path, 0o644);
  const shared = await store.status(identity, settings());
  assert.ok(shared.type === "unusable");
  assert.match(shared.problem.reason, /chmod 600/);
  Deno.renameSync(path, `${folder}/real`);
  Deno.symlinkSync("real", path);
  assert.equal((await store.status(identity, settings())).type, "unusable");
  Deno.removeSync(path);
  Deno.writeTextFileSync(path, "{not json", { mode: 0o600 });
  assert.equal((await store.status(identity, settings())).type, "unusable");
});

Deno.test("plain HTTP to another machine needs an agreement of its own", async () => {
  using home = new TestFolder();
  using workspace = new TestFolder();
  const given = settings({ url: "http://192.0.2.7:8080/v1" });
  const { store, identity } = await granted(home, workspace, given);
  const status = await store.status(identity, given);
  assert.ok(status.type === "insecure");
  assert.equal(status.origin, "http://192.0.2.7:8080");
  await store.grant(identity, { settings: given, insecureOrigins: [status.origin] });
  assert.equal((await store.status(identity, given)).type, "granted");
  for (
    const [host, expected] of [
      ["127.0.0.1", true],
      ["localhost", true],
      ["[::1]", true],
      ["127.1.2.3", true],
      ["127.evil.example", false],
      ["10.0.0.1", false],
    ] as const
  ) {
    assert.equal(isLoopback(host), expected, host);
  }
});

async function credential(
  auth: string,
  { variables = {}, authFile = null }: {
    readonly variables?: Readonly<Record<string, string | "denied">>;
    readonly authFile?: string | null;
  } = {},
) {
  const given = settings({ auth });
  const model = given.models["coder"];
  assert.ok(model !== undefined);
  const resolved = await resolveCredential("coder", {
    model,
    origin: "http://127.0.0.1:8080",
    sources: {
      configPath: "/c",
      authPath: authFile,
      variable: (name) => variables[name] ?? null,
    },
  });
  return resolved.ok ? resolved.value : resolved.error.problems[0]?.reason ?? "";
}

Deno.test("resolveCredential() reads the variable, or names it", async () => {
  const auth = 'auth = "env"\napi_key_env = "MY_KEY"';
  assert.equal(await credential('auth = "none"'), null);
  assert.equal(await credential(auth, { variables: { MY_KEY: " secret-key " } }), "secret-key");
  assert.match(String(await credential(auth)), /names MY_KEY, which is not set/);
  assert.match(
    String(await credential(auth, { variables: { MY_KEY: "  " } })),
    /MY_KEY, which is empty/,
  );
  assert.match(String(await credential(auth, { variables: { MY_KEY: "abc" } })), /too short/);
  assert.match(String(await credential(auth, { variables: { MY_KEY: "denied" } })), /may not read/);
});

Deno.test("resolveCredential() gives a stored key to its own origin only", async () => {
  using folder = new TestFolder();
  const auth = 'auth = "credential"\ncredential_ref = "work"';
  const path = `${folder.path}/auth.toml`;
  const write = (text: string, mode = 0o600) => {
    Deno.writeTextFileSync(path, text);
    Deno.chmodSync(path, mode);
  };
  assert.match(String(await credential(auth, { authFile: path })), /does not exist/);
  write('[credentials.work]\norigin = "http://127.0.0.1:8080"\ntoken = "secret-key"\n');
  assert.equal(await credential(auth, { authFile: path }), "secret-key");
  write('[credentials.work]\norigin = "https://elsewhere.example"\ntoken = "secret-key"\n');
  const other = String(await credential(auth, { authFile: path }));
  assert.match(other, /for https:\/\/elsewhere\.example, which is not given to/);
  assert.doesNotMatch(other, /secret-key/);
  write("[credentials]\n");
  assert.match(String(await credential(auth, { authFile: path })), /not in the auth file/);
  write("oops", 0o600);
  assert.match(String(await credential(auth, { authFile: path })), /not TOML/);
  write("[credentials]\n", 0o644);
  assert.match(String(await credential(auth, { authFile: path })), /chmod 600/);
});
