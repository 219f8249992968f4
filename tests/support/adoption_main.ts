/**
 * Runs a script as a command in a program that starts nothing else in a session of its own, and
 * prints as JSON how it ended, how another child of Deno ended meanwhile (its code is 5), whether
 * twenty commands at once got each its own code, what was left when the command was over, what is left once all was ended, and children not reaped. Arguments: the script, its time limit in milliseconds.
 */
import { processIds, readProcess } from "../../src/runtime/linux/process_table.ts";
import { runProcess } from "../../src/runtime/processes/run_process.ts";
import { END, newOperation, ownedProcesses, quietControls } from "./processes.ts";

const [script = "", timeoutMs = "5000"] = Deno.args;
const processes = ownedProcesses("all");
const bystander = new Deno.Command("/bin/sh", { args: ["-c", "sleep 0.1; exit 5"] }).spawn();
const result = await runProcess({
  operationId: newOperation(),
  executable: "/bin/sh",
  args: ["-c", script],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  timeoutMs: Number(timeoutMs),
  graceMs: 300,
  captureBytes: 65_536,
}, quietControls(processes));
if (!result.ok) throw new Error(JSON.stringify(result.error));
const crowd = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
  const ran = await runProcess({
    operationId: newOperation(),
    executable: "/bin/sh",
    args: ["-c", `exit ${index}`],
    cwd: "/",
    env: {},
    timeoutMs: 5000,
    graceMs: 300,
    captureBytes: 1024,
  }, quietControls(processes));
  return ran.ok && ran.value.exit.type === "code" ? ran.value.exit.code : null;
}));
const { code } = await bystander.status;
const ended = await processes.endAll(END);
const children = processIds().map(readProcess).filter((row) => row?.parent === Deno.pid);
console.log(JSON.stringify({
  exit: result.value.exit,
  bystander: code,
  crowd: crowd.every((value, index) => value === index),
  left: result.value.left.processes.map(({ command }) => command),
  remaining: ended.flatMap(({ left }) => left.processes),
  children,
}));
