import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readEvents } from "../../../../src/runtime/providers/chat_completions/sse_reader.ts";

/** Events of the test stream: enough for many reads. */
const EVENTS = 5000;

Deno.test("readEvents() reads every event of a Node server through one reused buffer", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let i = 0; i < EVENTS; i++) response.write(`data: ${i}\n\n`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const response = await fetch(`http://127.0.0.1:${address.port}/`);
  assert.ok(response.body !== null);
  const seen: string[] = [];
  let reads = 0;
  const rest = await readEvents(response.body, {
    onEvent: (data) => seen.push(data),
    onComment: () => {},
    onRead: () => {
      reads++;
    },
    isFinished: () => false,
  });
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(seen, Array.from({ length: EVENTS }, (_, i) => String(i)));
  assert.equal(rest.events, EVENTS);
  // The platform gives one chunk a read, however many wait.
  assert.ok(reads >= 1 && reads <= EVENTS + 10, `${reads} reads`);
});

/** A body whose chunks are exactly these. */
function bodyOf(...chunks: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = chunks.map((chunk) => encoder.encode(chunk));
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const next = parts.shift();
      if (next === undefined) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else controller.enqueue(next);
    },
  });
}

async function restOf(...chunks: readonly string[]) {
  return await readEvents(bodyOf(...chunks), {
    onEvent: () => {},
    onComment: () => {},
    onRead: () => {},
    isFinished: () => false,
  });
}

Deno.test("readEvents() keeps what stands behind the last event", async () => {
  assert.equal((await restOf('data: 1\n\n{"error":"x"}')).tail, '{"error":"x"}');
  assert.equal((await restOf("data: 1\n\n", '{"err', 'or":1}')).tail, '{"error":1}');
  assert.equal((await restOf("data: 1\r\n\r\nrest")).tail, "rest");
  assert.equal((await restOf("<html>")).tail, "<html>");
  assert.deepEqual((await restOf('error: {"a":1}\n\n')).errorLines, ['{"a":1}']);
});
