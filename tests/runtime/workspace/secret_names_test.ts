import assert from "node:assert/strict";
import { isSecretName } from "../../../src/runtime/workspace/secret_names.ts";

Deno.test("isSecretName() knows names that hold secrets, in any case", () => {
  const secret = [".env", ".ENV", ".env.local", "id_rsa", "id_ed25519_sk", "server.PEM", "a.key"];
  assert.deepEqual(secret.filter(isSecretName), secret);
});

Deno.test("isSecretName() leaves what is meant to be shared", () => {
  const shared = [".env.example", "id_rsa.pub", "environment.ts", "env", "keys.ts", "pem"];
  assert.deepEqual(shared.filter(isSecretName), []);
});
