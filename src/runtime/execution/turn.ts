import { availableInput } from "../../core/budget/estimate.ts";
import { checkTurn } from "../../core/budget/budget.ts";
import type { AssistantMessage } from "../../core/conversation/message.ts";
import type { FluzoError } from "../../core/errors.ts";
import type { DomainEvent } from "../../core/events/event.ts";
import type { MessageId, RequestId } from "../../core/ids.ts";
import { Sanitizer } from "../../core/text/sanitizer.ts";
import type { Redactor } from "../../core/text/redactor.ts";
import type { InferenceFailure } from "../providers/gateway.ts";
import type { ChatAnswer, StreamDelta } from "../providers/provider.ts";
import { TOOL_DEFINITIONS } from "../tools/catalog.ts";
import type { Attempt, Ending } from "./attempt.ts";
import { StreamRecorder } from "./stream_recorder.ts";

/** Wait before what tools need is started: starting it must not hold up the request itself. */
const WARM_UP_DELAY_MS = 20;

export type TurnOutcome =
  | { readonly type: "answer"; readonly message: AssistantMessage }
  | { readonly type: "stop"; readonly ending: Ending };

/**
 * One exchange with the model: checks context and budget, asks through the gateway, and commits the
 * answer with its cost before anything of it is acted on.
 */
export async function takeTurn(attempt: Attempt): Promise<TurnOutcome> {
  const { plan, conversation, services } = attempt;
  const estimated = conversation.estimatedTokens;
  const available = availableInput(plan.contextWindow, plan.maxOutputTokens);
  if (estimated > available) {
    const error: FluzoError = {
      type: "context_exhausted",
      estimatedTokens: estimated,
      availableTokens: available,
    };
    return { type: "stop", ending: { type: "blocked", reason: "context_exhausted", error } };
  }
  const bodyBytes = conversation.bytes;
  const stream = openStream(attempt);
  const result = await services.gateway.infer({
    purpose: "agent_turn",
    attemptId: plan.attemptId,
    conversationId: plan.sessionId,
    endpoint: plan.endpoint,
    capacityId: plan.capacityId,
    pool: plan.pool,
    chat: {
      messages: conversation.messages,
      tools: TOOL_DEFINITIONS,
      maxOutputTokens: plan.maxOutputTokens,
      usedCallIds: conversation.usedCallIds,
    },
    estimatedInputTokens: estimated,
    bodyBytes,
    maxRetries: plan.maxRetries,
  }, {
    parent: attempt.span,
    signal: attempt.cancel.signal,
    append: (events, span) => attempt.journal.append(events, span),
    checkBudget: () => checkBudget(attempt, estimated),
    onRequest: (requestId) => {
      stream.onRequest(requestId);
      services.timers.after(WARM_UP_DELAY_MS, services.warmUp);
    },
    onDelta: stream.onDelta,
    onRetry: (failure, delayMs) => {
      services.updates.publish(plan.taskId, {
        type: "status",
        text: `The request failed (${failure.error.reason}), trying again in ${delayMs / 1000} s`,
      });
    },
  });
  await stream.close();
  const answer = result.ok ? result.value : result.error.chat?.partial ?? null;
  const message = answer === null ? null : toMessage(answer, services.redactor);
  if (answer !== null) countUsage(attempt, { answer, estimated, bodyBytes, ended: result.ok });
  attempt.consume({ turns: answer === null ? 0 : 1 });
  await attempt.journal.append([
    ...(message === null ? [] : stream.finish(message)),
    { type: "budget_consumed", taskId: plan.taskId, consumption: attempt.consumption },
  ]);
  if (!result.ok) return { type: "stop", ending: endingOf(attempt, result.error) };
  if (message === null) throw new TypeError("An answer without a message");
  conversation.add(message);
  return { type: "answer", message };
}

function checkBudget(attempt: Attempt, estimatedTokens: number): FluzoError | null {
  const exhausted = checkTurn(
    attempt.limits,
    attempt.consumption,
    estimatedTokens + attempt.plan.maxOutputTokens,
  );
  return exhausted === null ? null : { type: "budget_exhausted", ...exhausted };
}

/** Where streamed text goes: redacted, then to the journal and, sanitised, to who watches. */
function openStream(attempt: Attempt): {
  readonly onRequest: (requestId: RequestId) => void;
  readonly onDelta: (delta: StreamDelta) => void;
  readonly close: () => Promise<void>;
  readonly finish: (message: AssistantMessage) => readonly DomainEvent[];
} {
  const { plan, services } = attempt;
  const { sessionId, taskId } = plan;
  let messageId: MessageId = services.ids.next("message");
  let requestId: RequestId | null = null;
  const recorder = new StreamRecorder({
    messageId,
    sessionId,
    taskId,
    requestId: () => {
      if (requestId === null) throw new TypeError("A delta came before its request");
      return requestId;
    },
  }, { append: (events) => attempt.journal.append(events), timers: services.timers });
  const answer = new Channel(services.redactor, (raw, shown) => {
    recorder.push(raw);
    if (shown !== "") {
      services.updates.publish(taskId, { type: "text", messageId, channel: "answer", text: shown });
    }
  });
  const reasoning = new Channel(services.redactor, (_raw, shown) => {
    if (shown === "") return;
    services.updates.publish(taskId, {
      type: "text",
      messageId,
      channel: "reasoning",
      text: shown,
    });
  });
  return {
    onRequest: (id) => {
      requestId = id;
    },
    onDelta: (delta) => {
      switch (delta.type) {
        case "text":
          answer.push(delta.text);
          return;
        case "reasoning":
          reasoning.push(delta.text);
          return;
        case "status":
          services.updates.publish(taskId, {
            type: "status",
            text: new Sanitizer().push(services.redactor.redact(delta.text)),
          });
          return;
        case "tool_call":
          return;
      }
    },
    close: async () => {
      answer.end();
      reasoning.end();
      await recorder.close();
    },
    finish: (message) => {
      if (recorder.started) {
        return [{ type: "message_completed", messageId, message, end: message.end }];
      }
      messageId = services.ids.next("message");
      return [{ type: "message_recorded", messageId, sessionId, taskId, message }];
    },
  };
}

/** One channel of streamed text on its way through redaction and sanitising. */
class Channel {
  readonly #redact: ReturnType<Redactor["stream"]>;
  readonly #sanitizer = new Sanitizer();
  readonly #sink: (raw: string, shown: string) => void;

  constructor(redactor: Redactor, sink: (raw: string, shown: string) => void) {
    this.#redact = redactor.stream();
    this.#sink = sink;
  }

  push(text: string): void {
    const raw = this.#redact.push(text);
    if (raw !== "") this.#sink(raw, this.#sanitizer.push(raw));
  }

  end(): void {
    const raw = this.#redact.end();
    const shown = this.#sanitizer.push(raw) + this.#sanitizer.end();
    if (raw !== "" || shown !== "") this.#sink(raw, shown);
  }
}

function toMessage(answer: ChatAnswer, redactor: Redactor): AssistantMessage {
  return {
    role: "assistant",
    text: redactor.redact(answer.text),
    reasoning: redactor.redact(answer.reasoning),
    toolCalls: answer.toolCalls.map((call) => ({
      ...call,
      argumentsText: redactor.redact(call.argumentsText),
    })),
    end: answer.end,
  };
}

/** Counts what the server reported; where it did not, an estimate that is marked as one. */
function countUsage(
  attempt: Attempt,
  { answer, estimated, bodyBytes, ended }: {
    readonly answer: ChatAnswer;
    readonly estimated: number;
    readonly bodyBytes: number;
    readonly ended: boolean;
  },
): void {
  const { inputTokens, outputTokens } = answer.usage;
  if (inputTokens !== null && inputTokens > 0) {
    attempt.conversation.noteReported({ bytes: bodyBytes, inputTokens });
  }
  // A request that failed before any answer is charged for nothing but what was reported.
  const began = ended || answer.text !== "" || answer.reasoning !== "";
  const guessedInput = began ? estimated : 0;
  const guessedOutput = Math.ceil((answer.text.length + answer.reasoning.length) / 3);
  const estimatedTokens = (inputTokens === null ? guessedInput : 0) +
    (outputTokens === null ? guessedOutput : 0);
  attempt.consume({
    tokens: (inputTokens ?? 0) + (outputTokens ?? 0) + estimatedTokens,
    estimatedTokens,
  });
}

function endingOf(attempt: Attempt, { error }: InferenceFailure): Ending {
  const { by } = attempt.cancel;
  if (by !== null) return { type: "cancelled", by };
  switch (error.type) {
    case "budget_exhausted":
    case "capacity_exhausted":
    case "capacity_wait_timeout":
      return { type: "blocked", reason: error.type, error };
    default:
      return { type: "failed", error };
  }
}
