/// <reference lib="deno.worker" />
import { err, ok } from "../../core/result.ts";
import { Dispatcher, pathOf } from "./_dispatch.ts";
import type { ReplyMessage, RequestMessage } from "./_messages.ts";
import { refusalOf } from "./_refusal.ts";

/**
 * The workspace worker. It holds no permission but `ffi` on the C library: every byte it reads or
 * writes goes through `openat2` beneath the workspace root. Requests run one after the other, so an
 * operation never sees half of another.
 */
declare const self: DedicatedWorkerGlobalScope;

const dispatcher = new Dispatcher();
let tail: Promise<void> = Promise.resolve();

self.onmessage = (event: MessageEvent<RequestMessage>) => {
  tail = tail.then(() => answer(event.data));
};

async function answer({ id, request }: RequestMessage): Promise<void> {
  let reply: ReplyMessage;
  try {
    reply = { id, result: ok(await dispatcher.handle(request)) };
  } catch (error) {
    reply = { id, result: err(refusalOf(error, pathOf(request))) };
  }
  self.postMessage(reply, buffersOf(reply));
}

/** Large contents are moved, not copied. */
function buffersOf({ result }: ReplyMessage): Transferable[] {
  if (!result.ok || result.value === null) return [];
  if ("preImage" in result.value) return [result.value.preImage.buffer as ArrayBuffer];
  return "bytes" in result.value ? [result.value.bytes.buffer as ArrayBuffer] : [];
}
