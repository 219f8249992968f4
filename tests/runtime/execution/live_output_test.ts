import assert from "node:assert/strict";
import { LiveOutputs } from "../../../src/runtime/execution/live_output.ts";
import { ManualTime } from "../../support/manual_clock.ts";
import { newOperation } from "../../support/processes.ts";
