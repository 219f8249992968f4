import assert from "node:assert/strict";
import fc from "fast-check";
import {
  checkToolCall,
  checkTurn,
  consume,
  NO_CONSUMPTION,
} from "../../../src/core/budget/budget.ts";
import {
  availableInput,
  estimateTokens,
  safetyReserve,
} from "../../../src/core/budget/estimate.ts";

const LIMITS = { maxTurns: 3, maxActiveSeconds: 60, maxToolCalls: 5, maxTotalTokens: 1000 };

Deno.test("checkTurn() allows the last turn and refuses the one after", () => {
  assert.equal(checkTurn(LIMITS, consume(NO_CONSUMPTION, { turns: 2 }), 0), null);
  assert.deepEqual(checkTurn(LIMITS, consume(NO_CONSUMPTION, { turns: 3 }), 0), {
    limit: "turns",
    consumed: 3,
    allowed: 3,
  });
});

Deno.test("checkTurn() counts input and the largest output before the request is sent", () => {
  const used = consume(NO_CONSUMPTION, { tokens: 600 });
  assert.equal(checkTurn(LIMITS, used, 400), null);
  assert.equal(checkTurn(LIMITS, used, 401)?.limit, "total_tokens");
});

Deno.test("checkTurn() and checkToolCall() stop at the time limit", () => {
  const used = consume(NO_CONSUMPTION, { activeMs: 60_000 });
  assert.equal(checkTurn(LIMITS, used, 0)?.limit, "active_seconds");
  assert.equal(checkToolCall(LIMITS, used)?.limit, "active_seconds");
});

Deno.test("checkToolCall() refuses the call beyond the limit", () => {
  assert.equal(checkToolCall(LIMITS, consume(NO_CONSUMPTION, { toolCalls: 4 })), null);
  assert.equal(checkToolCall(LIMITS, consume(NO_CONSUMPTION, { toolCalls: 5 }))?.consumed, 5);
});

Deno.test("consume() never goes down, whatever it is given", () => {
  const amount = fc.oneof(fc.double(), fc.integer(), fc.constant(undefined));
  fc.assert(fc.property(fc.array(amount), (amounts) => {
    let total = NO_CONSUMPTION;
    let sum = 0;
    for (const tokens of amounts) {
      const next = consume(total, tokens === undefined ? {} : { tokens });
      assert.ok(next.tokens >= total.tokens);
      if (tokens !== undefined && Number.isFinite(tokens) && tokens > 0) sum += tokens;
      total = next;
    }
    assert.equal(total.tokens, sum);
  }));
});

Deno.test("estimateTokens() is a third of the bytes until a server reports", () => {
  assert.equal(estimateTokens(10, null), 4);
  assert.equal(estimateTokens(300, { bytes: 300, inputTokens: 50 }), 50);
  assert.equal(estimateTokens(300, { bytes: 300, inputTokens: 200 }), 200);
});

Deno.test("estimateTokens() follows a report only within its bound", () => {
  assert.equal(estimateTokens(300, { bytes: 300, inputTokens: 1 }), 25);
  assert.equal(estimateTokens(300, { bytes: 300, inputTokens: 1_000_000 }), 400);
  assert.equal(estimateTokens(300, { bytes: 0, inputTokens: 10 }), 100);
});

Deno.test("safetyReserve() is the greater of 1,024 and 5 % of the window", () => {
  assert.equal(safetyReserve(8192), 1024);
  assert.equal(safetyReserve(100_000), 5000);
});

Deno.test("availableInput() is never negative", () => {
  assert.equal(availableInput(32_768, 4096), 32_768 - 4096 - 1639);
  assert.equal(availableInput(1000, 4096), 0);
});
