import type { AdmissionLimits, PoolLimits } from "../../core/admission/admission.ts";
import type { NotFoundError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import {
  type ChatModelSettings,
  DEFAULT_POOL,
  type ModelSettings,
  type PoolSettings,
  type Settings,
} from "../../core/settings/registry.ts";
import type { ModelEndpoint } from "../providers/provider.ts";

/** The chat model a task runs on. */
export function findChatModel(
  settings: Settings,
  key: string,
): Result<ChatModelSettings, NotFoundError> {
  const model = Object.hasOwn(settings.models, key) ? settings.models[key] : undefined;
  return model?.provider === "openai_compatible"
    ? ok(model)
    : err({ type: "not_found", what: "model", id: key });
}

/** The destination of a model, with the key it was given. */
export function modelEndpoint(
  modelKey: string,
  { model, apiKey }: { readonly model: ChatModelSettings; readonly apiKey: string | null },
): ModelEndpoint {
  const { timeouts } = model;
  return {
    modelKey,
    baseUrl: model.base_url.replace(/\/+$/, ""),
    model: model.model,
    apiKey,
    profile: {
      maxTokensField: model.max_tokens_field,
      stream: model.stream,
      streamUsage: model.stream_usage,
      replayReasoning: model.replay_reasoning,
      temperature: model.temperature,
    },
    timeouts: {
      connectMs: timeouts.connect_seconds * 1000,
      firstOutputMs: timeouts.first_output_seconds * 1000,
      idleMs: timeouts.idle_seconds * 1000,
      requestMs: timeouts.request_seconds * 1000,
    },
  };
}

/** Where a model's requests are counted. */
export function capacityOf(
  modelKey: string,
  model: ModelSettings,
): { readonly capacityId: string; readonly pool: string } {
  return {
    capacityId: model.capacity_id ?? modelKey,
    pool: model.pool ?? `model ${modelKey}`,
  };
}

/** The limits of the admission actor: of models that share a capacity the strictest counts. */
export function admissionLimits(settings: Settings): AdmissionLimits {
  const capacities = new Map<string, { readonly maxInFlight: number }>();
  const pools = new Map<string, PoolLimits>();
  for (const [key, model] of Object.entries(settings.models)) {
    const { capacityId, pool } = capacityOf(key, model);
    const known = capacities.get(capacityId)?.maxInFlight ?? Infinity;
    capacities.set(capacityId, { maxInFlight: Math.min(known, model.max_in_flight) });
    if (model.pool === null) {
      pools.set(pool, { ...poolLimits(DEFAULT_POOL), maxInFlight: model.max_in_flight });
    }
  }
  for (const [id, pool] of Object.entries(settings.capacity_pools)) {
    pools.set(id, poolLimits(pool));
  }
  return { capacities, pools };
}

function poolLimits(pool: PoolSettings): PoolLimits {
  return {
    maxInFlight: pool.max_in_flight,
    foregroundReservedSlots: pool.foreground_reserved_slots,
    queueCapacity: pool.queue_capacity,
    queueTimeoutMs: pool.queue_timeout_seconds * 1000,
  };
}
