import assert from "node:assert/strict";
import { permissionFlags } from "../../../src/cli/permissions.ts";
import { testWith } from "../../support/tools.ts";

/** Runs a script in a program of its own, with the permissions of the product. */
async function adopt(script: string, timeoutMs = 5000): Promise<unknown> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      ...permissionFlags(),
      "tests/support/adoption_main.ts",
      script,
      String(timeoutMs),
    ],
    stdin: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

const ENDED = {
  exit: { type: "code", code: 0 },
  bystander: 5,
  crowd: true,
  remaining: [],
  children: [],
};

testWith("setsid", "OwnedProcesses adopts what hid without a trace, and ends it", async () => {
  // No session, no group, no parent and no marker of the command is left of these two.
  const script = "(env -i setsid sleep 61 &); (env -i setsid sleep 62 &); sleep 0.1";
  const seen = await adopt(`exec >/dev/null 2>&1; ${script}`);
  assert.deepEqual(seen, { left: ["sleep 61", "sleep 62"], ...ENDED });
});

testWith("setsid", "OwnedProcesses ends what hid without a trace when the time is up", async () => {
  const seen = await adopt("(env -i setsid sleep 61 &); sleep 60", 400);
  const exit = { type: "signal", signal: "SIGTERM" };
  assert.deepEqual(seen, { left: [], ...ENDED, exit });
});

testWith("setsid", "OwnedProcesses takes the entries of all that ended", async () => {
  const seen = await adopt(
    "for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.05' &); (sleep 0.05 &); done; sleep 0.3",
  );
  assert.deepEqual(seen, { left: [], ...ENDED });
});

testWith("setsid", "OwnedProcesses leaves the status of other children to Deno", async () => {
  // Its own leader ends while looks go on: Deno must still learn how.
  const seen = await adopt("(setsid sleep 0.6 &); exit 7");
  assert.deepEqual(seen, { left: ["sleep 0.6"], ...ENDED, exit: { type: "code", code: 7 } });
});

Deno.test("without the C library no command is started, and the error says why", async () => {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      ...permissionFlags().filter((flag) => !flag.startsWith("--allow-ffi")),
      "tests/support/adoption_main.ts",
      "echo ran",
    ],
    stdin: "null",
  }).output();
  assert.ok(!success && stdout.length === 0);
  assert.match(new TextDecoder().decode(stderr), /spawn_failed.*Cannot open the C library/);
});
