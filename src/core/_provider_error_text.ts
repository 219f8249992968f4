import type { ProviderError } from "./errors.ts";
import type { ErrorText } from "./_error_words.ts";

/** Words for one kind of error; see `error_text.ts`. */
export function describeProvider(error: ProviderError): ErrorText {
  const said = error.detail === "" ? "" : `: ${error.detail}`;
  const status = error.status === null ? "" : ` (HTTP ${error.status})`;
  const at = `${error.origin}${status}`;
  switch (error.reason) {
    case "redirect_blocked":
      return {
        what: `The server ${at} answered with a redirect, which Fluzo never follows${said}`,
        remedy: "Set base_url to the final address",
      };
    case "authentication":
      return {
        what: `The server ${at} refused the credentials${said}`,
        remedy: "Check auth and api_key_env of the model",
      };
    case "rate_limited":
      return {
        what: `The server ${at} limits the rate of requests${said}`,
        remedy: "Fluzo does not retry this by itself: try again later",
      };
    case "quota_exhausted":
      return {
        what: `The server ${at} says the quota is used up${said}`,
        remedy: "Fluzo does not retry this by itself",
      };
    case "capacity_rejected":
      return {
        what: `The server ${at} has no capacity for the request${said}`,
        remedy: "Fluzo does not retry this by itself: try again later",
      };
    case "context_overflow":
      return {
        what: `The request is larger than the context the server ${at} serves${said}`,
        remedy: "Lower context_window to what the server serves, or start a new session",
      };
    case "invalid_request":
      return {
        what: `The server ${at} refused the request${said}`,
        remedy: "If it names a field it does not know, switch that off in [models]",
      };
    case "not_found":
      return {
        what: `The server ${at} does not know the path or the model${said}`,
        remedy: "Check base_url (it usually ends in /v1) and model",
      };
    case "tools_unsupported":
      return {
        what: `The server ${at} cannot use tools with this model${said}`,
        remedy: "Serve a model with tool support (llama.cpp: start it with --jinja)",
      };
    case "loading":
      return {
        what: `The server ${at} is still loading the model${said}`,
        remedy: "Try again when it is ready",
      };
    case "unavailable":
      return {
        what: `The server ${at} failed${said}`,
        remedy: "Look at the server's own log",
      };
    case "connection_failed":
      return {
        what: `Cannot reach ${at}${said}`,
        remedy: "Check that the server runs and that base_url is right",
      };
    case "first_output_timeout":
      return {
        what: `The server ${at} sent no output in time${said}`,
        remedy:
          "Raise first_output_seconds in the model's timeouts, for a server that loads slowly",
      };
    case "idle_timeout":
      return {
        what: `The server ${at} stopped sending in the middle of an answer${said}`,
        remedy: "Raise idle_seconds in the model's timeouts, or look at the server's log",
      };
    case "request_timeout":
      return {
        what: `The answer of ${at} took longer than the request may${said}`,
        remedy: "Raise request_seconds in the model's timeouts",
      };
    case "stream_error":
      return {
        what: `The server ${at} reported an error in the middle of an answer${said}`,
        remedy: "Look at the server's own log",
      };
    case "incomplete_stream":
      return {
        what: `The answer of ${at} was cut off before its end${said}`,
        remedy: "Nothing of it was run; start the task again",
      };
    case "content_filtered":
      return { what: `The server ${at} filtered the answer${said}`, remedy: "Change the request" };
    case "output_limit":
      return {
        what: `The answer of ${at} reached the output limit before its end${said}`,
        remedy: "Raise max_output_tokens of the model",
      };
    case "protocol_error":
      return {
        what: `The server ${at} answered with something that is not Chat Completions${said}`,
        remedy: "Check base_url (it usually ends in /v1)",
      };
    case "net_permission":
      return {
        what: `This Fluzo may not connect to ${error.origin}${said}`,
        remedy: "Install it again with that host, as `fluzo doctor` shows",
      };
  }
}
