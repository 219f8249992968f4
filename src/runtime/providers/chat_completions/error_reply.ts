import type { ProviderReason } from "../../../core/errors.ts";
import { headOf } from "../../../core/text/truncate.ts";
import { isObject } from "../../../core/json.ts";

/** Words of a server that are kept, in bytes. */
const MAX_DETAIL_BYTES = 2048;

/** A server's error in Fluzo's terms. */
export interface ErrorReply {
  readonly reason: ProviderReason;
  /** The server's own words, at most 2 KiB, not yet redacted. */
  readonly detail: string;
}

/**
 * Reads an error answer in any of the shapes servers use: an object, a list of one, a text, HTML or
 * nothing.
 *
 * @param status HTTP status; 200 for an error inside a stream.
 * @param body The body as text, or the value already parsed from it.
 */
export function readErrorReply(status: number, body: unknown): ErrorReply {
  const value = typeof body === "string" ? parseLoosely(body) : body;
  const facts = findFacts(value);
  const detail = headOf(facts.message, MAX_DETAIL_BYTES);
  return { reason: classify(status, { ...facts, message: detail }), detail };
}

/** Whether a parsed value is an error and nothing else. */
export function isErrorValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 1 && isErrorValue(value[0]);
  if (!isObject(value)) return false;
  const hasError = value["error"] !== undefined && value["error"] !== null;
  return hasError || value["object"] === "error";
}

interface Facts {
  readonly message: string;
  readonly words: readonly string[];
}

function findFacts(value: unknown): Facts {
  if (Array.isArray(value)) return findFacts(value[0]);
  if (typeof value === "string") return { message: value, words: [] };
  if (!isObject(value)) return { message: "", words: [] };
  const { error } = value;
  const source = isObject(error) ? error : value;
  const words = [source["code"], source["type"], source["status"], value["error_type"]]
    .flatMap((word) => typeof word === "string" || typeof word === "number" ? [String(word)] : []);
  return { message: messageOf(value, source), words };
}

function messageOf(
  value: Readonly<Record<string, unknown>>,
  source: Readonly<Record<string, unknown>>,
): string {
  const { error } = value;
  if (typeof error === "string") {
    const more = value["message"];
    return typeof more === "string" && more !== error ? `${error}: ${more}` : error;
  }
  for (const candidate of [source["message"], value["detail"], value["errors"]]) {
    const text = textOf(candidate);
    if (text !== "") return text;
  }
  return "";
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    return value.map((item) => {
      if (!isObject(item)) return textOf(item);
      const place = Array.isArray(item["loc"]) ? `${item["loc"].join(".")}: ` : "";
      return place + (textOf(item["msg"]) || textOf(item["message"]));
    }).filter((part) => part !== "").join("; ");
  }
  return isObject(value) ? JSON.stringify(value) : "";
}

function classify(status: number, { message, words }: Facts): ProviderReason {
  const code = words.join(" ").toLowerCase();
  const text = `${code} ${message.toLowerCase()}`;
  if (OVERFLOW_CODE_REGEXP.test(code)) return "context_overflow";
  if (QUOTA_REGEXP.test(code) || status === 402) return "quota_exhausted";
  if (CAPACITY_REGEXP.test(code)) return "capacity_rejected";
  if (status === 429 || LIMIT_REGEXP.test(code)) {
    return QUOTA_REGEXP.test(text) ? "quota_exhausted" : "rate_limited";
  }
  if (status === 401 || status === 403) return "authentication";
  const overflow = [200, 400, 413, 422, 500].includes(status) && OVERFLOW_TEXT_REGEXP.test(text);
  if (overflow) return "context_overflow";
  if (TOOLS_REGEXP.test(text)) return "tools_unsupported";
  if (status === 200) return AUTH_REGEXP.test(code) ? "authentication" : "stream_error";
  if (status === 404) return "not_found";
  if (status === 503 && LOADING_REGEXP.test(text)) return "loading";
  if (status === 503 && QUEUE_FULL_REGEXP.test(text)) return "capacity_rejected";
  if (status === 500 && ARGUMENTS_REGEXP.test(text)) return "invalid_request";
  if (status === 408 || status === 425 || (status >= 500 && status !== 501)) return "unavailable";
  return status >= 400 ? "invalid_request" : "protocol_error";
}

const OVERFLOW_CODE_REGEXP = /exceed_context_size|context_length_exceeded|exceed_batch_size/;
const OVERFLOW_TEXT_REGEXP =
  /context (?:length|size|window)|maximum context|too many tokens|exceeds? (?:the )?(?:available )?context|n_ctx|longer than the model/;
const QUOTA_REGEXP = /insufficient_quota|budget_exceeded|quota|insufficient (?:credit|balance)/;
const CAPACITY_REGEXP = /concurrency_limit|capacity|overloaded/;
const LIMIT_REGEXP = /rate_limit|rate_limited|throttling|too many requests/;
const TOOLS_REGEXP =
  /(?:does not|doesn't|do not) support (?:tools|function)|tools? param(?:eter)? requires|requires --jinja|tool(?: calling| use| choice)? (?:is |are )?not supported/;
const AUTH_REGEXP = /authentication|unauthorized|invalid_api_key|permission/;
const LOADING_REGEXP = /loading|not ready|starting|warming|estimated_time/;
const QUEUE_FULL_REGEXP = /queue (?:is )?full|busy|overload|capacity|too many/;
const ARGUMENTS_REGEXP = /tool call arguments|function arguments|parse tool/;

function parseLoosely(body: string): unknown {
  const text = body.trim();
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return /^<(?:!doctype|html)/i.test(text) ? titleOf(text) : text;
  }
}

/** What an HTML error page says in its title. */
function titleOf(html: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(html)?.[1]?.trim();
  return title === undefined || title === "" ? "an HTML page" : `an HTML page: ${title}`;
}
