import assert from "node:assert/strict";
import { randomIds, systemClock } from "../../mod.ts";
import { GEN_AI, SPANS } from "../../src/core/telemetry/names.ts";
import type { Store } from "../../src/runtime/storage/client.ts";
import { call, startTask, TestHost } from "../support/test_host.ts";

Deno.test("openHost() runs a task to its end and everything that crosses the port is plain data", async () => {
  await using test = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "one", new_text: "two" }),
    { text: "done" },
  ]);
  const { command, taskId, updates, task } = await test.run();
  assert.equal(task.state, "completed");
  assert.equal(test.folder.read("a.txt"), "two\n");
  const { port } = test.host;
  const replies = [
    await port.query({ type: "list_tasks", cursor: null, limit: 10 }),
    await port.query({ type: "list_sessions", cursor: null, limit: 10 }),
    await port.query({ type: "list_operations", taskId, after: null, limit: 10 }),
    await port.query({ type: "list_events", taskId, afterSequence: 0, limit: 100 }),
    await port.query({ type: "read_artifact", artifactId: task.result?.diff ?? "" as never }),
  ];
  for (const value of [command, task, ...updates, ...replies]) {
    assert.deepEqual(JSON.parse(JSON.stringify(value)), value);
  }
  for (const reply of replies) assert.ok(reply.ok, JSON.stringify(reply));
});

Deno.test("start_task with the same command id starts one task", async () => {
  await using test = await TestHost.open([{ text: "done" }]);
  const command = startTask();
  const replies = await Promise.all([
    test.host.port.execute(command),
    test.host.port.execute(command),
  ]);
  assert.deepEqual(replies[0], replies[1]);
  assert.ok(replies[0].ok);
});

Deno.test("a second task is refused while one runs", async () => {
  await using test = await TestHost.open([call("run", { command: ["sleep", "60"] })]);
  const started = await test.host.port.execute(startTask({ yolo: true }));
  assert.ok(started.ok);
  const second = await test.host.port.execute(startTask());
  assert.ok(!second.ok && second.error.type === "owner_conflict");
  const { taskId } = started.value;
  const cancel = () =>
    test.host.port.execute({
      type: "cancel_task",
      commandId: randomIds(systemClock).next("command"),
      taskId,
      by: "user",
    });
  assert.ok((await cancel()).ok);
  assert.ok((await cancel()).ok, "repeating a cancellation is harmless");
});

Deno.test("nested instructions are given before a file below them is written", async () => {
  await using test = await TestHost.open([
    call("write", { path: "pkg/new.txt", content: "1\n" }),
    call("write", { path: "pkg/new.txt", content: "1\n" }),
    { text: "done" },
  ], {
    prepare: (folder) => {
      folder.write("AGENTS.md", "root rule\n");
      folder.write("pkg/AGENTS.md", "package rule\n");
      folder.git("add", "-A");
      folder.git("commit", "-q", "-m", "rules");
    },
  });
  await test.run();
  const [first, second, third] = test.adapter.requests;
  assert.match(first?.messages[0]?.text ?? "", /root rule/);
  assert.doesNotMatch(first?.messages[0]?.text ?? "", /package rule/);
  assert.match(second?.messages.at(-1)?.text ?? "", /Not done yet.*package rule/s);
  assert.match(third?.messages.at(-1)?.text ?? "", /Created pkg\/new\.txt/);
});

Deno.test("the first request stays under 12 KB", async () => {
  await using test = await TestHost.open([{ text: "done" }]);
  await test.run();
  const request = test.adapter.requests[0];
  const bytes = new TextEncoder().encode(JSON.stringify(request)).length;
  assert.ok(bytes < 12_000, `${bytes} bytes`);
});

Deno.test("a run is traced: one agent span, one span a request and a tool, no content", async () => {
  await using test = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("shell", { script: "echo SENTINEL-OUTPUT" }),
    { text: "SENTINEL-ANSWER" },
  ]);
  const { task } = await test.run({ goal: "SENTINEL-GOAL", yolo: true });
  const { spans, logs, counts, measurements } = test.telemetry;
  const names = spans.map(({ name }) => name);
  assert.equal(names.filter((name) => name === SPANS.agent).length, 1);
  assert.equal(names.filter((name) => name === "chat m").length, 3);
  assert.deepEqual(names.filter((name) => name.startsWith("execute_tool")), [
    "execute_tool read",
    "execute_tool shell",
  ]);
  const agent = spans.find(({ name }) => name === SPANS.agent);
  assert.equal(agent?.context.traceId, task.attempts[0]?.traceId);
  for (const span of spans) {
    assert.equal(span.context.traceId, agent?.context.traceId, span.name);
    assert.notEqual(span.endMs, null, `${span.name} was never ended`);
  }
  const chat = spans.find(({ name }) => name === "chat m");
  assert.equal(chat?.kind, "client");
  assert.equal(chat?.attributes[GEN_AI.conversationId], task.sessionId);
  assert.doesNotMatch(JSON.stringify({ spans, logs, counts, measurements }), /SENTINEL/);
});

/** A store whose first append of such an event fails, as on a full disk. */
function failingOnce(type: string): (store: Store) => Store {
  let failed = false;
  return (store) =>
    new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (key !== "append") return typeof value === "function" ? value.bind(target) : value;
        const append: Store["append"] = (drafts) => {
          if (failed || !drafts.some(({ event }) => event.type === type)) {
            return store.append(drafts);
          }
          failed = true;
          const error = { type: "storage", reason: "disk_full", path: "/d", detail: "" } as const;
          return Promise.resolve({ ok: false, error });
        };
        return append;
      },
    });
}

Deno.test("an effect whose outcome could not be recorded is unknown, and nothing follows it", async () => {
  await using test = await TestHost.open([
    call("read", { path: "a.txt" }),
    call("edit", { path: "a.txt", old_text: "one", new_text: "two" }),
    { text: "never asked" },
  ], {
    // The read is the first operation that finishes, the edit the second: let the edit's fail.
    wrapStore: (store) => {
      let finished = 0;
      const failing = failingOnce("operation_finished")(store);
      return new Proxy(store, {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key);
          if (key !== "append") return typeof value === "function" ? value.bind(target) : value;
          const append: Store["append"] = (drafts) => {
            const outcome = drafts.some(({ event }) => event.type === "operation_finished");
            return outcome && ++finished === 2 ? failing.append(drafts) : store.append(drafts);
          };
          return append;
        },
      });
    },
  });
  const { taskId, task } = await test.run();
  assert.deepEqual([task.state, task.reason], ["blocked", "storage_failed"]);
  assert.equal(task.result?.error?.type, "storage");
  assert.equal(test.adapter.requests.length, 2);
  const operations = await test.host.port.query({
    type: "list_operations",
    taskId,
    after: null,
    limit: 10,
  });
  assert.ok(operations.ok);
  assert.deepEqual(operations.value.items.map(({ state }) => state), ["known_result", "unknown"]);
});

Deno.test("an intent that could not be recorded has no effect", async () => {
  await using test = await TestHost.open([
    call("write", { path: "new.txt", content: "x" }),
    { text: "never asked" },
  ], { wrapStore: failingOnce("operation_intended") });
  const { task } = await test.run();
  assert.deepEqual([task.state, task.reason], ["blocked", "storage_failed"]);
  assert.equal(test.folder.exists("new.txt"), false);
});

Deno.test("a call that was never performed has a result that says so when a session goes on", async () => {
  await using test = await TestHost.open([
    {
      calls: [
        { name: "run", arguments: { command: ["true"] } },
        { name: "read", arguments: { path: "a.txt" } },
      ],
    },
    { text: "went on" },
  ]);
  const first = await test.run();
  assert.equal(first.task.state, "blocked");
  await test.run({ sessionId: first.task.sessionId });
  const results = test.adapter.requests[1]?.messages.filter(({ role }) => role === "tool") ?? [];
  assert.equal(results.length, 2);
  for (const { text } of results) assert.match(text, /^Not run:/);
});

Deno.test("whoever follows a task is told when its end could not be recorded", async () => {
  await using test = await TestHost.open([{ text: "done" }], {
    wrapStore: failingOnce("task_ended"),
  });
  const started = await test.host.port.execute(startTask());
  assert.ok(started.ok);
  const subscription = test.host.port.subscribe(started.value.taskId);
  const timer = setTimeout(() => subscription.close(), 5000);
  let told = false;
  for await (const _ of subscription) {
    told = test.host.defects.length > 0;
    if (told) break;
  }
  clearTimeout(timer);
  assert.ok(told, "no update came after the failure");
  assert.equal(test.host.defects[0]?.type, "storage");
});
