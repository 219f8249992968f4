import type { RequestId } from "../ids.ts";

/**
 * Who may send an inference request, as a pure state machine. One step reserves the model's and the
 * pool's slot together or neither, so two half-acquired resources can never wait for each other.
 * Limits bind this process only. Foreground requests are served first come, first served within a
 * pool; shadow requests never wait and never take a reserved slot.
 */

/** Slots of one serving model; models that share a `capacityId` share them. */
export interface CapacityLimits {
  readonly maxInFlight: number;
}

/** Slots and queue of one pool of models. */
export interface PoolLimits {
  readonly maxInFlight: number;
  /** Slots that shadow requests leave free. */
  readonly foregroundReservedSlots: number;
  /** Requests that may wait. */
  readonly queueCapacity: number;
  readonly queueTimeoutMs: number;
}

export interface AdmissionLimits {
  readonly capacities: ReadonlyMap<string, CapacityLimits>;
  readonly pools: ReadonlyMap<string, PoolLimits>;
}

/** A request that asks for a slot. */
export interface Ticket {
  readonly id: RequestId;
  readonly capacityId: string;
  readonly pool: string;
  readonly priority: "foreground" | "shadow";
}

export interface Holder extends Ticket {
  /** `uncertain`: the request ended here without proof that it ended at the server. */
  readonly state: "held" | "uncertain";
}

export interface Waiting extends Ticket {
  readonly sinceMs: number;
}

export interface AdmissionState {
  readonly limits: AdmissionLimits;
  readonly holders: readonly Holder[];
  readonly queue: readonly Waiting[];
}

export type AdmissionInput =
  | { readonly type: "submit"; readonly ticket: Ticket; readonly nowMs: number }
  /** Completion evidence arrived, or the request was never dispatched. */
  | { readonly type: "release"; readonly id: RequestId }
  /** Dispatched, ended here, no evidence: the slot stays taken. */
  | { readonly type: "mark_uncertain"; readonly id: RequestId }
  /** The caller no longer wants to wait. */
  | { readonly type: "withdraw"; readonly id: RequestId }
  /** Time has passed: waits that are over end. */
  | { readonly type: "expire"; readonly nowMs: number }
  /** The user says that the server is free of this request. */
  | { readonly type: "reconcile"; readonly id: RequestId };

export type RefusalReason =
  /** The queue is at its capacity. */
  | "queue_full"
  /** Waited as long as the pool allows. */
  | "wait_timeout"
  /** Only uncertain requests stand in the way, and those do not end by themselves. */
  | "uncertain_slots"
  /** A shadow request found no free allowance. */
  | "no_allowance";

export type AdmissionEffect =
  | { readonly type: "admitted"; readonly id: RequestId }
  | { readonly type: "refused"; readonly id: RequestId; readonly reason: RefusalReason };

export interface AdmissionStep {
  readonly state: AdmissionState;
  readonly effects: readonly AdmissionEffect[];
}

/** Nothing held, nothing waiting. */
export function newAdmission(limits: AdmissionLimits): AdmissionState {
  return { limits, holders: [], queue: [] };
}

/** When the next wait ends, or null when nothing waits. */
export function nextExpiryMs(state: AdmissionState): number | null {
  let next: number | null = null;
  for (const waiting of state.queue) {
    const at = waiting.sinceMs + queueTimeoutMs(state, waiting);
    if (next === null || at < next) next = at;
  }
  return next;
}

/** Applies one input. Unknown ids change nothing. */
export function stepAdmission(state: AdmissionState, input: AdmissionInput): AdmissionStep {
  switch (input.type) {
    case "submit":
      return submit(state, input.ticket, input.nowMs);
    case "release":
    case "reconcile":
      return serve({ ...state, holders: state.holders.filter((held) => held.id !== input.id) });
    case "mark_uncertain":
      return refuseHopeless({
        ...state,
        holders: state.holders.map((held) =>
          held.id === input.id ? { ...held, state: "uncertain" } : held
        ),
      });
    case "withdraw":
      return serve({ ...state, queue: state.queue.filter((waiting) => waiting.id !== input.id) });
    case "expire":
      return expire(state, input.nowMs);
  }
}

function submit(state: AdmissionState, ticket: Ticket, nowMs: number): AdmissionStep {
  if (ticket.priority === "shadow") {
    return shadowFits(state, ticket)
      ? admit(state, ticket)
      : { state, effects: [{ type: "refused", id: ticket.id, reason: "no_allowance" }] };
  }
  if (hopeless(state, ticket)) {
    return { state, effects: [{ type: "refused", id: ticket.id, reason: "uncertain_slots" }] };
  }
  const queued = state.queue.filter((waiting) => waiting.pool === ticket.pool);
  if (queued.length === 0 && fits(state, ticket)) return admit(state, ticket);
  const capacity = state.limits.pools.get(ticket.pool)?.queueCapacity ?? 0;
  if (queued.length >= capacity) {
    return { state, effects: [{ type: "refused", id: ticket.id, reason: "queue_full" }] };
  }
  return {
    state: { ...state, queue: [...state.queue, { ...ticket, sinceMs: nowMs }] },
    effects: [],
  };
}

function admit(state: AdmissionState, ticket: Ticket): AdmissionStep {
  const holder: Holder = {
    id: ticket.id,
    capacityId: ticket.capacityId,
    pool: ticket.pool,
    priority: ticket.priority,
    state: "held",
  };
  return {
    state: { ...state, holders: [...state.holders, holder] },
    effects: [{ type: "admitted", id: ticket.id }],
  };
}

/** Admits from the head of each pool's queue for as long as the head fits. */
function serve(start: AdmissionState): AdmissionStep {
  let state = start;
  const effects: AdmissionEffect[] = [];
  const stuck = new Set<string>();
  for (const waiting of start.queue) {
    if (stuck.has(waiting.pool)) continue;
    if (!fits(state, waiting)) {
      stuck.add(waiting.pool);
      continue;
    }
    const admitted = admit(state, waiting);
    effects.push(...admitted.effects);
    state = {
      ...admitted.state,
      queue: state.queue.filter((other) => other.id !== waiting.id),
    };
  }
  return { state, effects };
}

function expire(state: AdmissionState, nowMs: number): AdmissionStep {
  const over = state.queue.filter((waiting) =>
    nowMs - waiting.sinceMs >= queueTimeoutMs(state, waiting)
  );
  if (over.length === 0) return { state, effects: [] };
  const rest = serve({ ...state, queue: state.queue.filter((waiting) => !over.includes(waiting)) });
  return {
    state: rest.state,
    effects: [
      ...over.map(({ id }): AdmissionEffect => ({ type: "refused", id, reason: "wait_timeout" })),
      ...rest.effects,
    ],
  };
}

/** Ends waits that can no longer be served, now that a slot has become uncertain. */
function refuseHopeless(state: AdmissionState): AdmissionStep {
  const lost = state.queue.filter((waiting) => hopeless(state, waiting));
  const rest = serve({ ...state, queue: state.queue.filter((waiting) => !lost.includes(waiting)) });
  return {
    state: rest.state,
    effects: [
      ...lost.map(({ id }): AdmissionEffect => ({
        type: "refused",
        id,
        reason: "uncertain_slots",
      })),
      ...rest.effects,
    ],
  };
}

function fits(state: AdmissionState, ticket: Ticket): boolean {
  return count(state, (held) => held.capacityId === ticket.capacityId) <
      capacityLimit(state, ticket) &&
    count(state, (held) => held.pool === ticket.pool) < poolLimit(state, ticket);
}

/** True when the slots that will free themselves are not enough: every other one is uncertain. */
function hopeless(state: AdmissionState, ticket: Ticket): boolean {
  const uncertain = (held: Holder): boolean => held.state === "uncertain";
  return count(state, (held) => uncertain(held) && held.capacityId === ticket.capacityId) >=
      capacityLimit(state, ticket) ||
    count(state, (held) => uncertain(held) && held.pool === ticket.pool) >=
      poolLimit(state, ticket);
}

function shadowFits(state: AdmissionState, ticket: Ticket): boolean {
  const pool = state.limits.pools.get(ticket.pool);
  if (pool === undefined || state.queue.some((waiting) => waiting.pool === ticket.pool)) {
    return false;
  }
  const shadows = count(state, (held) => held.pool === ticket.pool && held.priority === "shadow");
  return fits(state, ticket) && shadows < pool.maxInFlight - pool.foregroundReservedSlots;
}

function count(state: AdmissionState, matches: (held: Holder) => boolean): number {
  let found = 0;
  for (const held of state.holders) if (matches(held)) found++;
  return found;
}

function capacityLimit(state: AdmissionState, ticket: Ticket): number {
  return state.limits.capacities.get(ticket.capacityId)?.maxInFlight ?? 0;
}

function poolLimit(state: AdmissionState, ticket: Ticket): number {
  return state.limits.pools.get(ticket.pool)?.maxInFlight ?? 0;
}

function queueTimeoutMs(state: AdmissionState, ticket: Ticket): number {
  return state.limits.pools.get(ticket.pool)?.queueTimeoutMs ?? 0;
}
