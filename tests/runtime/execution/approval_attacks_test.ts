/**
 * Attempts to get something run, or changed, whose exact scope nobody approved. In every case the
 * program, if it were started, would leave a mark.
 */
import assert from "node:assert/strict";
import { randomIds, systemClock, type TaskId } from "../../../mod.ts";
import type { OperationDetail } from "../../../src/core/port/read_models.ts";
import { approvalKey } from "../../../src/core/policy/scope.ts";
import type { GrantRequest } from "../../../src/core/policy/grant_request.ts";
import type { Store } from "../../../src/runtime/storage/client.ts";
import type { TestFolder } from "../../support/repository.ts";
import { call, startTask, TestHost } from "../../support/test_host.ts";
import { reportLine } from "../../support/report_line.ts";

const ids = randomIds(systemClock);

/** Every program here writes down that it ran, and with which words. */
const TOOL = '#!/bin/sh\nprintf "%s|" "$0" "$@" >> "$ROOT_MARK"\n';

function prepare(folder: TestFolder): void {
  const mark = `${folder.path}/.mark`;
  const script = TOOL.replace("$ROOT_MARK", mark);
  for (const name of ["tool.sh", "sub/tool.sh", "sub/deeper/tool.sh", "bin/tool"]) {
    folder.write(name, script);
    Deno.chmodSync(`${folder.path}/${name}`, 0o755);
  }
  folder.write("interpreter", Deno.readFileSync("/bin/sh"));
  Deno.chmodSync(`${folder.path}/interpreter`, 0o755);
  folder.write("own.sh", script.replace("/bin/sh", `${folder.path}/interpreter`));
  Deno.chmodSync(`${folder.path}/own.sh`, 0o755);
  Deno.symlinkSync("tool.sh", `${folder.path}/linked.sh`);
  Deno.symlinkSync("sub", `${folder.path}/linked`);
}

const ran = (folder: TestFolder): boolean => folder.exists(".mark");

const EXEC = (...argv: string[]): GrantRequest => ({ type: "exec", argv, cwd: "." });
const SHELL = (script: string): GrantRequest => ({ type: "shell", script });
const GRANTED = EXEC("./tool.sh", "ok");

/** A call that no grant names. */
interface Attack {
  readonly name: string;
  readonly granted?: GrantRequest;
  readonly tool?: "run" | "shell";
  readonly arguments: Readonly<Record<string, unknown>>;
}

const argv = (name: string, ...command: string[]): Attack => ({ name, arguments: { command } });
const script = (name: string, text: string, granted = GRANTED): Attack => ({
  name,
  granted,
  tool: "shell",
  arguments: { script: text },
});

const CHAINING: readonly Attack[] = [
  ...[";", "&&", "||", "|", "&", "\n", ">", "<", "`", "$("].map((operator) =>
    argv(`${JSON.stringify(operator)} as a word`, "./tool.sh", "ok", operator, "./tool.sh")
  ),
  argv("an operator inside a word", "./tool.sh", "ok;./tool.sh"),
  argv("a newline inside a word", "./tool.sh", "ok\n./tool.sh"),
  argv("a shell around it", "sh", "-c", "./tool.sh ok"),
  argv("a shell around more", "sh", "-c", "./tool.sh ok; ./tool.sh more"),
  ...["env", "nice", "nohup", "setsid", "xargs", "time", "stdbuf"].map((wrapper) =>
    argv(`${wrapper} around it`, wrapper, "./tool.sh", "ok")
  ),
  argv("timeout around it", "timeout", "9", "./tool.sh", "ok"),
  argv("find that runs it", "find", ".", "-name", "tool.sh", "-exec", "{}", "ok", ";"),
  script("the same words as a script", "./tool.sh ok"),
  script("a longer script", "./tool.sh ok; ./tool.sh ok", SHELL("./tool.sh ok")),
  script("a script with a blank at its end", "./tool.sh ok ", SHELL("./tool.sh ok")),
  script("a script with a newline at its end", "./tool.sh ok\n", SHELL("./tool.sh ok")),
  script("a script with two blanks", "./tool.sh  ok", SHELL("./tool.sh ok")),
  script("a script with a comment", "./tool.sh ok # more", SHELL("./tool.sh ok")),
  argv("a granted script without its shell", "./tool.sh", "ok"),
].map((attack, index, all) =>
  // The last of them: a grant for a script is none for a program.
  index === all.length - 1 ? { ...attack, granted: SHELL("./tool.sh ok") } : attack
);

const QUOTING: readonly Attack[] = [
  argv("all in one word", "./tool.sh ok"),
  argv("a blank in the word", "./tool.sh", "ok "),
  argv("a tab in the word", "./tool.sh", "ok\t"),
  argv("single quotes in the word", "./tool.sh", "'ok'"),
  argv("double quotes in the word", "./tool.sh", '"ok"'),
  argv("a backslash in the word", "./tool.sh", "o\\k"),
  argv("an empty word behind", "./tool.sh", "ok", ""),
  argv("an empty word before", "./tool.sh", "", "ok"),
  argv("a letter of another alphabet", "./tool.sh", "\u043ek"),
  argv("a character of no width", "./tool.sh", "o\u200bk"),
  argv("a mark that turns the text", "./tool.sh", "\u202eko"),
  argv("a composed letter", "./tool.sh", "ok\u0301"),
  argv("other case", "./tool.sh", "OK"),
  argv("a word less", "./tool.sh"),
  argv("a word more", "./tool.sh", "ok", "more"),
  argv("a part of the word", "./tool.sh", "o"),
  argv("two dashes before", "./tool.sh", "--", "ok"),
  {
    ...argv("words in another order", "./tool.sh", "b", "a"),
    granted: EXEC("./tool.sh", "a", "b"),
  },
];

const PROGRAM: readonly Attack[] = [
  argv("without its folder", "tool.sh", "ok"),
  argv("spelt with more", "././tool.sh", "ok"),
  argv("through another folder", "sub/../tool.sh", "ok"),
  argv("of the same name elsewhere", "sub/tool.sh", "ok"),
  argv("through a link", "./linked.sh", "ok"),
  argv("through a linked folder", "linked/tool.sh", "ok"),
  argv("with an assignment before", "A=1", "./tool.sh", "ok"),
  argv("with a variable set by env", "env", "A=1", "./tool.sh", "ok"),
  argv("with an emptied environment", "env", "-i", "./tool.sh", "ok"),
  argv("given to an interpreter", "sh", "./tool.sh", "ok"),
  argv("sourced", "sh", "-c", ". ./tool.sh ok"),
];

const PLACE: readonly Attack[] = [
  { name: "below", arguments: { command: ["./tool.sh", "ok"], cwd: "sub" } },
  { name: "through a link", arguments: { command: ["./tool.sh", "ok"], cwd: "linked" } },
  { name: "deeper than granted", arguments: { command: ["./tool.sh", "ok"], cwd: "sub/deeper" } },
  { name: "outside", arguments: { command: ["./tool.sh", "ok"], cwd: ".." } },
  { name: "by an absolute path", arguments: { command: ["./tool.sh", "ok"], cwd: "/" } },
  { name: "back into the root", arguments: { command: ["./tool.sh", "ok"], cwd: "sub/.." } },
].map((attack, index): Attack =>
  index === 2 ? { ...attack, granted: { ...GRANTED, cwd: "sub" } as GrantRequest } : attack
);

const PARAMETERS: readonly Attack[] = [
  { name: "an environment", arguments: { command: ["./tool.sh", "ok"], env: { A: "1" } } },
  { name: "a shell flag", arguments: { command: ["./tool.sh", "ok"], shell: true } },
  { name: "a permission", arguments: { command: ["./tool.sh", "ok"], approved: true } },
  { name: "a script instead of words", arguments: { command: "./tool.sh ok" } },
  { name: "a number among the words", arguments: { command: ["./tool.sh", 1] } },
];

const CALLS: Readonly<Record<string, readonly Attack[]>> = {
  chaining: CHAINING,
  quoting: QUOTING,
  program: PROGRAM,
  "another folder": PLACE,
  "a parameter that is none": PARAMETERS,
};

let cases = 0;

for (const [kind, attacks] of Object.entries(CALLS)) {
  Deno.test(`no grant covers ${kind}`, async () => {
    for (const attack of attacks) {
      const { name, granted = GRANTED, tool = "run" } = attack;
      await using test = await TestHost.open([call(tool, attack.arguments), { text: "done" }], {
        prepare,
      });
      const { task } = await test.run({ grants: [granted] });
      assert.equal(ran(test.folder), false, `${kind}: ${name}: it ran`);
      assert.ok(
        task.reason === "permission_required" || task.state === "completed",
        `${name}: ${JSON.stringify(task.result?.error)}`,
      );
      cases++;
    }
  });
}

Deno.test("the granted call itself runs, or these tests would prove nothing", async () => {
  const good: readonly Attack[] = [
    argv("a program", "./tool.sh", "ok"),
    script("a script", "./tool.sh ok", SHELL("./tool.sh ok")),
    { name: "its folder spelt with a dot", arguments: { command: ["./tool.sh", "ok"], cwd: "./" } },
    { ...argv("an interpreter of its own", "./own.sh"), granted: EXEC("./own.sh") },
  ];
  for (const { name, granted = GRANTED, tool = "run", ...attack } of good) {
    await using test = await TestHost.open([call(tool, attack.arguments), { text: "done" }], {
      prepare,
    });
    const { task } = await test.run({ grants: [granted] });
    assert.equal(ran(test.folder), true, `${name}: ${JSON.stringify(task.result?.error)}`);
  }
});

/** Something that changes after the user was asked. */
interface Swap {
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly change: (root: string) => void;
}

function overwrite(path: string): void {
  const before = Deno.statSync(path);
  const bytes = Deno.readFileSync(path);
  // Same file, same size, same time of its content: only the time of the change tells.
  bytes.set(new TextEncoder().encode("#"), bytes.length - 2);
  const file = Deno.openSync(path, { write: true });
  file.writeSync(bytes);
  file.close();
  Deno.utimeSync(path, before.atime ?? 0, before.mtime ?? 0);
}

function replaceBy(content: string): (path: string) => void {
  return (path) => {
    Deno.writeTextFileSync(`${path}.new`, content, { mode: 0o755 });
    Deno.renameSync(`${path}.new`, path);
  };
}

const SWAPS: readonly Swap[] = [
  {
    name: "the program is written over in place, with its old size and time",
    command: ["./tool.sh"],
    change: (root) => overwrite(`${root}/tool.sh`),
  },
  {
    name: "the program is replaced by another of its name",
    command: ["./tool.sh"],
    change: (root) => Deno.copyFileSync(`${root}/sub/tool.sh`, `${root}/tool.sh`),
  },
  {
    name: "the program is exchanged by a rename",
    command: ["./tool.sh"],
    change: (root) => Deno.renameSync(`${root}/sub/tool.sh`, `${root}/tool.sh`),
  },
  {
    name: "the link to the program leads elsewhere",
    command: ["./linked.sh"],
    change: (root) => {
      Deno.removeSync(`${root}/linked.sh`);
      Deno.symlinkSync("sub/tool.sh", `${root}/linked.sh`);
    },
  },
  {
    name: "the program becomes a link",
    command: ["./tool.sh"],
    change: (root) => {
      Deno.removeSync(`${root}/tool.sh`);
      Deno.symlinkSync("sub/tool.sh", `${root}/tool.sh`);
    },
  },
  {
    name: "the interpreter of the script is replaced",
    command: ["./own.sh"],
    change: (root) => replaceBy(TOOL.replace("$ROOT_MARK", `${root}/.mark`))(`${root}/interpreter`),
  },
  {
    name: "the folder becomes a link to another",
    command: ["./tool.sh"],
    cwd: "sub",
    change: (root) => {
      Deno.renameSync(`${root}/sub`, `${root}/was`);
      Deno.symlinkSync("was/deeper", `${root}/sub`);
    },
  },
  {
    name: "the folder is replaced by another with its own program",
    command: ["./tool.sh"],
    cwd: "sub/deeper",
    change: (root) => {
      Deno.renameSync(`${root}/sub/deeper`, `${root}/was`);
      Deno.mkdirSync(`${root}/sub/deeper`);
      Deno.copyFileSync(`${root}/tool.sh`, `${root}/sub/deeper/tool.sh`);
    },
  },
  {
    name: "another program of its name comes first in PATH",
    command: ["tool"],
    change: (root) => Deno.renameSync(`${root}/bin/tool`, `${root}/first/tool`),
  },
];

/** When the change comes: before the answer, or after it, in the moment before the start. */
const MOMENTS = ["before the answer", "after the intent"] as const;

for (const moment of MOMENTS) {
  Deno.test(`what changes ${moment} is not run`, async () => {
    for (const swap of SWAPS) {
      let root = "";
      await using test = await TestHost.open([
        call("run", { command: swap.command, cwd: swap.cwd ?? "." }),
        { text: "done" },
      ], {
        prepare: (folder) => {
          root = folder.path;
          prepare(folder);
          folder.write("first/other", "");
          Deno.mkdirSync(`${root}/second`);
          Deno.copyFileSync(`${root}/bin/tool`, `${root}/second/tool`);
        },
        variables: (folder) => ({
          PATH: `${folder}/first:${folder}/second:${Deno.env.get("PATH")}`,
        }),
        wrapStore: (store) =>
          moment === "after the intent" ? beforeStart(store, () => swap.change(root)) : store,
      });
      const started = await test.host.port.execute(startTask({ onAsk: "wait" }));
      assert.ok(started.ok);
      const { taskId } = started.value;
      const operation = await question(test, taskId);
      if (moment === "before the answer") swap.change(root);
      const answer = await test.host.port.execute({
        type: "approve_operation",
        commandId: ids.next("command"),
        operationId: operation.id,
        seen: approvalKey(operation.scope),
      });
      assert.ok(answer.ok, swap.name);
      await test.until(taskId, "task_ended");
      assert.equal(ran(test.folder), false, `${swap.name}: it ran`);
      const last = test.adapter.requests.at(-1)?.messages.at(-1)?.text ?? "";
      assert.match(last, /changed|not the program|outside|not found|cannot/i, swap.name);
      cases++;
    }
  });
}

Deno.test("the number of attacks", () => {
  reportLine(`approval attacks: ${cases} cases`);
  const planned = Object.values(CALLS).flat().length + MOMENTS.length * SWAPS.length;
  assert.equal(cases, planned);
});

/** Acts when the intent is durable and nothing has been started. */
function beforeStart(store: Store, act: () => void): Store {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (key !== "append") return typeof value === "function" ? value.bind(target) : value;
      const append: Store["append"] = async (drafts) => {
        const written = await store.append(drafts);
        if (drafts.some(({ event }) => event.type === "operation_dispatched")) act();
        return written;
      };
      return append;
    },
  });
}

async function question(test: TestHost, taskId: TaskId): Promise<OperationDetail> {
  const look = async () => {
    const found = await test.host.port.query({ type: "list_approvals", taskId });
    assert.ok(found.ok);
    return found.value[0];
  };
  const updates = test.host.port.subscribe(taskId);
  let found = await look();
  if (found === undefined) {
    for await (const _ of updates) {
      found = await look();
      if (found !== undefined) break;
    }
  }
  updates.close();
  return found ?? assert.fail("nothing waits");
}
