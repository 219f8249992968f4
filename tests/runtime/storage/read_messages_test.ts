import assert from "node:assert/strict";
import { newId } from "../../support/ids.ts";
import { drafts, opened, startedTask, temporaryStore, value } from "./_fixture.ts";

Deno.test("messages() keeps the newest that fit and says that older ones are cut", async () => {
  using place = temporaryStore();
  const { events, sessionId, taskId } = startedTask();
  await using store = await opened(place.directory);
  value(await store.append(drafts(...events)));
  const messages = ["one", "two", "three"].map((text) => ({ role: "user", text } as const));
  for (const message of messages) {
    const messageId = newId("message");
    value(
      await store.append(drafts(
        { type: "message_recorded", messageId, sessionId, taskId, message },
      )),
    );
  }
  const sizes = messages.map((message) => JSON.stringify(message).length);
  const all = sizes.reduce((sum, size) => sum + size);
  const rows = [
    [all, messages, false],
    [all - 1, messages.slice(1), true],
    [(sizes[2] ?? 0) + (sizes[1] ?? 0), messages.slice(1), true],
    [sizes[2] ?? 0, messages.slice(2), true],
    [(sizes[2] ?? 0) - 1, [], true],
    [0, [], true],
  ] as const;
  for (const [maxBytes, expected, cut] of rows) {
    assert.deepEqual(value(await store.messages(sessionId, maxBytes)), {
      messages: expected,
      cut,
    });
  }
});
