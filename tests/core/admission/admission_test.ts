import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type AdmissionEffect,
  type AdmissionInput,
  type AdmissionState,
  newAdmission,
  nextExpiryMs,
  stepAdmission,
  type Ticket,
} from "../../../src/core/admission/admission.ts";
import { countingIds } from "../../support/ids.ts";

const PROPERTY_RUNS = 300;

function limits(
  { model = 1, pool = 1, reserved = 1, queue = 8 }: {
    readonly model?: number;
    readonly pool?: number;
    readonly reserved?: number;
    readonly queue?: number;
  } = {},
) {
  return {
    capacities: new Map([["m", { maxInFlight: model }], ["n", { maxInFlight: model }]]),
    pools: new Map([["p", {
      maxInFlight: pool,
      foregroundReservedSlots: reserved,
      queueCapacity: queue,
      queueTimeoutMs: 30_000,
    }]]),
  };
}

/** Drives the machine and keeps every effect, as the runtime does. */
class Driver {
  state: AdmissionState;
  readonly effects: AdmissionEffect[] = [];
  readonly #ids = countingIds();

  constructor(options: Parameters<typeof limits>[0] = {}) {
    this.state = newAdmission(limits(options));
  }

  step(input: AdmissionInput): readonly AdmissionEffect[] {
    const { state, effects } = stepAdmission(this.state, input);
    this.state = state;
    this.effects.push(...effects);
    return effects;
  }

  ticket(changes: Partial<Ticket> = {}): Ticket {
    return {
      id: this.#ids.next("request"),
      capacityId: "m",
      pool: "p",
      priority: "foreground",
      ...changes,
    };
  }

  submit(changes: Partial<Ticket> = {}, nowMs = 0): Ticket {
    const ticket = this.ticket(changes);
    this.step({ type: "submit", ticket, nowMs });
    return ticket;
  }

  outcome({ id }: Ticket): string {
    const effect = this.effects.findLast((candidate) => candidate.id === id);
    if (effect === undefined) return "waiting";
    return effect.type === "admitted" ? "admitted" : effect.reason;
  }
}

Deno.test("stepAdmission() serves foreground requests in order", () => {
  const driver = new Driver();
  const [a, b, c] = [driver.submit(), driver.submit(), driver.submit()];
  assert.deepEqual([a, b, c].map((t) => driver.outcome(t)), ["admitted", "waiting", "waiting"]);
  driver.step({ type: "release", id: a.id });
  assert.deepEqual([b, c].map((t) => driver.outcome(t)), ["admitted", "waiting"]);
});

Deno.test("stepAdmission() needs a model slot and a pool slot together", () => {
  const driver = new Driver({ model: 2, pool: 1 });
  const first = driver.submit({ capacityId: "m" });
  const other = driver.submit({ capacityId: "n" });
  assert.equal(driver.outcome(other), "waiting");
  driver.step({ type: "release", id: first.id });
  assert.equal(driver.outcome(other), "admitted");
});

Deno.test("stepAdmission() refuses when the queue is full", () => {
  const driver = new Driver({ queue: 1 });
  driver.submit();
  driver.submit();
  assert.equal(driver.outcome(driver.submit()), "queue_full");
});

Deno.test("stepAdmission() ends a wait at its deadline, not before", () => {
  const driver = new Driver();
  driver.submit();
  const waiting = driver.submit({}, 1000);
  assert.equal(nextExpiryMs(driver.state), 31_000);
  driver.step({ type: "expire", nowMs: 30_999 });
  assert.equal(driver.outcome(waiting), "waiting");
  driver.step({ type: "expire", nowMs: 31_000 });
  assert.equal(driver.outcome(waiting), "wait_timeout");
  assert.equal(nextExpiryMs(driver.state), null);
});

Deno.test("stepAdmission() keeps an uncertain slot and says so instead of waiting", () => {
  const driver = new Driver();
  const lost = driver.submit();
  const waiting = driver.submit();
  driver.step({ type: "mark_uncertain", id: lost.id });
  assert.equal(driver.outcome(waiting), "uncertain_slots");
  assert.equal(driver.outcome(driver.submit()), "uncertain_slots");
  driver.step({ type: "reconcile", id: lost.id });
  assert.equal(driver.outcome(driver.submit()), "admitted");
});

Deno.test("stepAdmission() admits a shadow request only beside what is reserved", () => {
  const one = new Driver();
  assert.equal(one.outcome(one.submit({ priority: "shadow" })), "no_allowance");
  const two = new Driver({ model: 2, pool: 2 });
  assert.equal(two.outcome(two.submit({ priority: "shadow" })), "admitted");
  assert.equal(two.outcome(two.submit({ priority: "shadow" })), "no_allowance");
  assert.equal(two.outcome(two.submit()), "admitted");
});

Deno.test("stepAdmission() lets no shadow request pass waiting foreground work", () => {
  const driver = new Driver({ model: 1, pool: 3 });
  driver.submit();
  driver.submit();
  assert.equal(
    driver.outcome(driver.submit({ priority: "shadow", capacityId: "n" })),
    "no_allowance",
  );
});

Deno.test("stepAdmission() forgets a withdrawn wait", () => {
  const driver = new Driver();
  const first = driver.submit();
  const gone = driver.submit();
  const last = driver.submit();
  driver.step({ type: "withdraw", id: gone.id });
  driver.step({ type: "release", id: first.id });
  assert.equal(driver.outcome(gone), "waiting");
  assert.equal(driver.outcome(last), "admitted");
});

Deno.test("stepAdmission() never exceeds a limit and never loses a request", () => {
  const action = fc.record({
    kind: fc.constantFrom("submit", "shadow", "release", "uncertain", "withdraw", "expire"),
    pick: fc.nat(20),
    capacityId: fc.constantFrom("m", "n"),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), (run, max) => {
      const driver = new Driver({ model: max, pool: max, reserved: 1, queue: 3 });
      const tickets: Ticket[] = [];
      run.forEach(({ kind, pick, capacityId }, nowMs) => {
        const held = driver.state.holders[pick % Math.max(1, driver.state.holders.length)];
        const queued = driver.state.queue[pick % Math.max(1, driver.state.queue.length)];
        if (kind === "submit") tickets.push(driver.submit({ capacityId }, nowMs));
        if (kind === "shadow") {
          tickets.push(driver.submit({ capacityId, priority: "shadow" }, nowMs));
        }
        if (kind === "release" && held) driver.step({ type: "release", id: held.id });
        if (kind === "uncertain" && held) driver.step({ type: "mark_uncertain", id: held.id });
        if (kind === "withdraw" && queued) driver.step({ type: "withdraw", id: queued.id });
        if (kind === "expire") driver.step({ type: "expire", nowMs: nowMs + 40_000 });
        const { holders, queue } = driver.state;
        assert.ok(holders.length <= max, "pool limit");
        for (const id of ["m", "n"]) {
          assert.ok(holders.filter((h) => h.capacityId === id).length <= max, "model limit");
        }
        assert.ok(queue.length <= 3, "queue limit");
      });
      for (const ticket of tickets) {
        const answers = driver.effects.filter(({ id }) => id === ticket.id);
        assert.ok(answers.length <= 1, "one answer a request");
      }
    }),
    { numRuns: PROPERTY_RUNS },
  );
});
