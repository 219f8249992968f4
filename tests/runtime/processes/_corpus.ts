import type { ProcessReason } from "../../../src/core/errors.ts";
import type { ProcessOutcome } from "../../../src/runtime/processes/run_process.ts";

/** What a command of the corpus must come to. */
export interface CorpusCase {
  readonly name: string;
  /** A script for `/bin/sh`, or an argument vector. */
  readonly command: string | readonly string[];
  /** Time limit; one second is plenty for what does not wait for it. */
  readonly timeoutMs?: number;
  /** It must be over by then, all ends included. */
  readonly deadlineMs?: number;
  readonly refused?: ProcessReason;
  readonly exit?: ProcessOutcome["exit"];
  readonly ended?: ProcessOutcome["ended"];
  readonly stdout?: string | RegExp;
  readonly stderr?: RegExp;
  /** Command lines of what is named as left, each once; null: at least one of any kind. */
  readonly left?: readonly string[] | null;
  readonly droppedBytes?: number;
  readonly outputHeld?: boolean;
}

const code = (value: number): ProcessOutcome["exit"] => ({ type: "code", code: value });
const signal = (name: string): ProcessOutcome["exit"] => ({ type: "signal", signal: name });

/** Runs into the time limit; everything it started must be gone afterwards. */
const endless = { timeoutMs: 400, ended: "timed_out", deadlineMs: 4000 } as const;

/** Ends by itself at once. */
const quick = { ended: "by_itself", deadlineMs: 3000 } as const;

/** Commands that real agents met, and what must become of each. Files are made by the test. */
export const CORPUS: readonly CorpusCase[] = [
  // Children that outlive the command
  {
    name: "a background child holds the output",
    command: "sleep 60 & echo done",
    ...quick,
    exit: code(0),
    stdout: "done\n",
    left: ["sleep 60"],
    outputHeld: true,
  },
  {
    name: "the parent exits while a child prints on",
    command: "(while :; do echo x; sleep 0.05; done) & exit 4",
    ...quick,
    exit: code(4),
    left: null,
    outputHeld: true,
  },
  {
    name: "a child in a session of its own outlives the command",
    command: "setsid sleep 60 >/dev/null 2>&1 & sleep 0.1",
    ...quick,
    exit: code(0),
    left: ["sleep 60"],
  },
  {
    name: "a double fork with setsid outlives the command",
    command: "(setsid sh -c 'sleep 61 & exec sleep 62' >/dev/null 2>&1 &); sleep 0.2",
    ...quick,
    exit: code(0),
    left: ["sleep 61", "sleep 62"],
  },
  {
    name: "a double fork with setsid is ended with the command",
    command: "(setsid sh -c 'sleep 60 & sleep 60' &); echo on; sleep 60",
    ...endless,
    stdout: "on\n",
  },
  {
    name: "a double fork into two more sessions is ended with the command",
    command: "(setsid sh -c 'setsid sh -c \"sleep 60 & sleep 60\" & exec sleep 60' &); sleep 60",
    ...endless,
  },
  {
    name: "a child that dropped its environment is ended with the command",
    command: "env -i setsid sleep 60 & sleep 60",
    ...endless,
  },
  {
    name: "busy children are ended with the command",
    command: "for c in 1 2; do (while :; do :; done) & done; sleep 999",
    ...endless,
  },
  {
    name: "200 children are ended with the command",
    command: "i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; echo all; wait",
    ...endless,
    timeoutMs: 1500,
    deadlineMs: 8000,
    stdout: "all\n",
  },
  {
    name: "a chain of 200 forks comes to rest and is named",
    command: "./chain 200 & sleep 3",
    ...quick,
    timeoutMs: 20_000,
    deadlineMs: 20_000,
    exit: code(0),
    left: ["sleep 60"],
    outputHeld: true,
  },
  {
    name: "a chain of 200 forks is ended while it forks",
    command: "./chain 200",
    ...quick,
    exit: code(0),
    left: null,
    outputHeld: true,
  },
  {
    name: "a chain of 200 sessions is ended with the command",
    command: "./session_chain 200 & sleep 60",
    ...endless,
    deadlineMs: 8000,
  },
  {
    name: "children that ended leave no entries",
    command: "for i in 1 2 3 4 5; do (setsid sh -c 'sleep 0.1' &); done; sleep 0.5",
    ...quick,
    exit: code(0),
  },
  // Ends that need force
  {
    name: "SIGTERM is ignored",
    command: "trap '' TERM; echo on; while :; do sleep 0.1; done",
    ...endless,
    exit: signal("SIGKILL"),
    stdout: "on\n",
  },
  {
    name: "SIGTERM is ignored in another session too",
    command: "trap '' TERM; setsid sh -c 'while :; do sleep 0.1; done' & while :; do sleep 1; done",
    ...endless,
    exit: signal("SIGKILL"),
  },
  {
    name: "SIGTERM is answered by cleaning up",
    command: "trap 'echo bye; exit 9' TERM; echo on; while :; do sleep 0.05; done",
    ...endless,
    exit: code(9),
    stdout: "on\nbye\n",
  },
  {
    name: "SIGTERM makes it start something else",
    command: "trap 'setsid sleep 60 & exit 0' TERM; while :; do sleep 0.05; done",
    ...endless,
  },
  {
    name: "it is asked once, however many others there are",
    command: "sh -c 'trap \"echo asked\" TERM; echo on; while :; do sleep 0.05; done' & " +
      "i=0; while [ $i -lt 70 ]; do sleep 60 & i=$((i+1)); done; wait",
    ...endless,
    timeoutMs: 1000,
    deadlineMs: 8000,
    stdout: "on\nasked\n",
  },
  {
    name: "it has stopped itself",
    command: "kill -STOP $$; sleep 60",
    ...endless,
    exit: signal("SIGTERM"),
  },
  {
    name: "a child in another session has stopped itself",
    command: "setsid sh -c 'trap \"echo bye; exit\" TERM; kill -STOP $$; sleep 60' & sleep 60",
    ...endless,
    stdout: "bye\n",
  },
  {
    name: "output is closed and it stays alive",
    command: "exec >&- 2>&-; sleep 60",
    ...endless,
    stdout: "",
  },
  // Input
  { name: "reads standard input", command: "cat; echo $?", ...quick, exit: code(0), stdout: "0\n" },
  {
    name: "prompts on the terminal",
    command: "read -r answer </dev/tty || exit 6",
    ...quick,
    exit: code(6),
    stderr: /tty/,
  },
  {
    name: "reads a pipe that nobody writes",
    command: "mkfifo quiet && cat quiet",
    ...endless,
    exit: signal("SIGTERM"),
  },
  {
    name: "reads a pipe that a child writes",
    command: "mkfifo busy && (while :; do echo x; sleep 0.1; done) > busy & sleep 0.1; cat busy",
    ...endless,
    stdout: /^x\n/,
  },
  // Output
  {
    name: "50 MB of output",
    command: "echo first; yes | head -c 50000000; echo last",
    ...quick,
    timeoutMs: 20_000,
    deadlineMs: 20_000,
    exit: code(0),
    stdout: /^first\n[\s\S]*last\n$/,
    droppedBytes: 50_000_000 + 11 - 32_768,
  },
  { name: "no final newline", command: "printf abc", ...quick, exit: code(0), stdout: "abc" },
  {
    name: "bytes that are no text",
    command: "printf 'a\\377\\303b'",
    ...quick,
    exit: code(0),
    stdout: "a\ufffd\ufffdb",
  },
  { name: "no output", command: ":", ...quick, exit: code(0), stdout: "" },
  // Exits
  { name: "exit code 1", command: "exit 1", ...quick, exit: code(1) },
  { name: "exit code 255", command: "exit 255", ...quick, exit: code(255) },
  { name: "ended by a signal", command: "kill -SEGV $$", ...quick, exit: signal("SIGSEGV") },
  { name: "killed by itself", command: "kill -KILL $$", ...quick, exit: signal("SIGKILL") },
  {
    name: "kills its whole group",
    command: "sleep 60 & kill -TERM 0; sleep 60",
    ...quick,
    exit: signal("SIGTERM"),
  },
  {
    name: "its folder vanishes",
    command: "mkdir gone && cd gone && rmdir ../gone && echo on && ls .",
    ...quick,
    exit: code(0),
    stdout: "on\n",
  },
  // Arguments
  {
    name: "arguments with newlines and quotes",
    command: ["printf", "<%s>", "a\nb", "'\"", "$HOME", "*", ""],
    ...quick,
    exit: code(0),
    stdout: "<a\nb><'\"><$HOME><*><>",
  },
  {
    name: "more arguments than the kernel takes",
    command: ["true", ...Array.from({ length: 40_000 }, () => "x".repeat(100))],
    refused: "spawn_failed",
  },
  { name: "an argument with a NUL", command: ["true", "a\0b"], refused: "invalid_environment" },
  // What cannot be started
  { name: "no such program", command: ["nowhere-to-be-found"], refused: "executable_not_found" },
  { name: "no such file", command: ["./nowhere"], refused: "executable_not_found" },
  { name: "a file without the right", command: ["./plain"], refused: "not_executable" },
  { name: "a folder", command: ["./folder"], refused: "not_executable" },
  {
    name: "a script whose interpreter is missing",
    command: ["./no_interpreter"],
    refused: "executable_not_found",
  },
  {
    name: "a script that names no interpreter",
    command: ["./nameless"],
    refused: "not_executable",
  },
];
