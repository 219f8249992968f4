import type { ControlError } from "./errors.ts";
import type { ErrorText } from "./_error_words.ts";

/** Words for one kind of error; see `error_text.ts`. */
export function describeControl(error: ControlError): ErrorText {
  const detail = error.detail === "" ? "" : `: ${error.detail}`;
  switch (error.reason) {
    case "no_owner":
      return {
        what: `No Fluzo works in this workspace${detail}`,
        remedy: "`fluzo task list` shows what there is",
      };
    case "unavailable":
      return {
        what: `The Fluzo that works here cannot be reached from outside${detail}`,
        remedy: "Answer or end it in its own terminal; Ctrl+C there ends it cleanly",
      };
    case "not_private":
      return {
        what: `The control socket is not private to you, so it is not used${detail}`,
        remedy: "Answer or end the other Fluzo in its own terminal",
      };
    case "wrong_user":
      return {
        what: `Another user stands at the control socket, so it is not used${detail}`,
        remedy: "Look at who made it: it should be yours",
      };
    case "wrong_version":
      return {
        what: `The Fluzo that works here speaks another version of the control protocol${detail}`,
        remedy: "Use the same Fluzo as there",
      };
    case "wrong_owner":
      return {
        what: `The Fluzo that works here is not the one that was meant any more${detail}`,
        remedy: "Look with `fluzo task list`, then ask again",
      };
    case "refused":
      return {
        what: `The Fluzo that works here refused the connection${detail}`,
        remedy: "Try again; if it stays so, end it in its own terminal",
      };
    case "timed_out":
      return {
        what: `The Fluzo that works here did not answer in time${detail}`,
        remedy: "Look with `fluzo task show` before you ask again",
      };
    case "unconfirmed":
      return {
        what: `The connection ended before the answer came${detail}`,
        remedy: "Look with `fluzo task show` before you ask again",
      };
    case "not_permitted":
      return {
        what: `This cannot be asked of a Fluzo in another terminal${detail}`,
        remedy: "Do it there",
      };
    case "id_reused":
      return {
        what: `The id of an earlier command came with another command${detail}`,
        remedy: "Ask again; each command needs an id of its own",
      };
    case "too_large":
      return {
        what: `The answer is too large for the control socket${detail}`,
        remedy: "Ask for less at once, or read it when no Fluzo works here",
      };
  }
}
