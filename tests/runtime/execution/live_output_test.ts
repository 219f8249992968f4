import assert from "node:assert/strict";
import { LiveOutputs } from "../../../src/runtime/execution/live_output.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { newOperation } from "../../support/processes.ts";

function begun() {
  const clock = new ManualClock();
  const outputs = new LiveOutputs(clock);
  const operationId = newOperation();
  const told: string[] = [];
  const live = outputs.begin(operationId, (text) => told.push(text));
  return { clock, outputs, operationId, told, live };
}

Deno.test("LiveOutputs tells at most 20 times a second, whatever comes", () => {
  const { clock, told, live } = begun();
  for (let i = 0; i < 1000; i++) {
    live.push("x");
    clock.advance(1);
  }
  live.end();
  assert.ok(told.length <= 21, `${told.length} updates`);
  assert.equal(told.join(""), "x".repeat(1000));
  assert.equal(clock.pending, 0);
});

Deno.test("LiveOutputs tells the newest part and counts what it left out", () => {
  const { told, live } = begun();
  for (let i = 0; i < 100; i++) live.push(`${i}`.padStart(1000, "."));
  live.end();
  assert.equal(told.length, 1);
  const [mark = "", rest = ""] = told[0]?.split("...]\n") ?? [];
  assert.equal(mark, "\n[... 83616 characters left out ");
  assert.equal(rest.length, 16_384);
  assert.ok(rest.endsWith("99"));
});

Deno.test("LiveOutputs keeps the end of an output readable, within a bound, also when it is over", () => {
  const { outputs, operationId, live } = begun();
  for (let i = 0; i < 100; i++) live.push(`${i}`.padStart(1000, "."));
  const running = outputs.read(operationId);
  assert.equal(running?.text.length, 65_536);
  assert.deepEqual([running.droppedUnits, running.running], [100_000 - 65_536, true]);
  live.end();
  assert.deepEqual(outputs.read(operationId), { ...running, running: false });
});

Deno.test("LiveOutputs never cuts a character in two", () => {
  const { outputs, operationId, live } = begun();
  live.push("😀".repeat(40_000));
  live.push("x");
  const tail = outputs.read(operationId);
  assert.ok(tail?.text.isWellFormed());
  assert.equal((tail?.text.length ?? 0) + (tail?.droppedUnits ?? 0), 80_001);
  live.end();
});

Deno.test("LiveOutputs forgets the oldest of many outputs", () => {
  const { outputs, operationId, live } = begun();
  live.end();
  const others = Array.from({ length: 16 }, newOperation);
  for (const other of others) outputs.begin(other, () => {}).end();
  assert.equal(outputs.read(operationId), null);
  assert.deepEqual(others.map((other) => outputs.read(other)?.running), others.map(() => false));
});
