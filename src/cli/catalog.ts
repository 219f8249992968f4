import type { CommandSpec, FlagSpec } from "./command_line.ts";

/** How a task may work: options of every command that runs one. */
const TASK_FLAGS: readonly FlagSpec[] = [
  { name: "model", type: "text", value: "KEY", summary: "a model of the configuration" },
  {
    name: "allow-exec",
    type: "texts",
    value: "COMMAND",
    summary: "let this task run exactly this command ('deno test', 'sub$ cargo test')",
  },
  {
    name: "allow-shell",
    type: "texts",
    value: "SCRIPT",
    summary: "let this task run exactly this script with /bin/sh -c",
  },
  {
    name: "allow-touch",
    type: "texts",
    value: "PATH",
    summary: "let this task change this file although you have uncommitted changes in it",
  },
  {
    name: "on-ask",
    type: "text",
    value: "WHAT",
    summary: "what an operation without permission does: block (default) or deny",
    options: ["block", "deny"],
  },
  {
    name: "yolo",
    type: "switch",
    value: "",
    summary: "this task only: allow what would be asked; denials stay",
  },
];

/** Every command. A module is imported only when its command runs: start-up pays for one. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "run",
    summary: "run a task in this workspace and end with its result",
    positionals: [{
      name: "TEXT",
      required: false,
      summary: 'what to do; "-" or a pipe reads it from standard input',
    }],
    flags: [
      { name: "continue", type: "switch", value: "", summary: "go on with the newest session" },
      ...TASK_FLAGS,
      {
        name: "verify",
        type: "text",
        value: "COMMAND",
        summary: "verify with this command instead of the configured one",
      },
    ],
    load: () => import("./commands/run.ts"),
  },
  {
    name: "init",
    summary: "write .fluzo for this workspace and keep its data out of Git",
    positionals: [],
    flags: [
      {
        name: "base-url",
        type: "text",
        value: "URL",
        summary: "the server, usually ending in /v1",
      },
      {
        name: "model",
        type: "text",
        value: "NAME",
        summary: "the id the server knows the model by",
      },
      {
        name: "context-window",
        type: "text",
        value: "TOKENS",
        summary: "what the server serves (default: 32768)",
      },
      {
        name: "api-key-env",
        type: "text",
        value: "NAME",
        summary: "environment variable that holds the key (default: no authentication)",
      },
      {
        name: "verify",
        type: "text",
        value: "COMMAND",
        summary: "the command that proves a task ('deno test')",
      },
      {
        name: "yes",
        type: "switch",
        value: "",
        summary:
          "also replace an existing file (after a private backup) and edit .git/info/exclude",
      },
    ],
    load: () => import("./commands/init.ts"),
  },
  {
    name: "consent show",
    summary: "show what this configuration would do, word for word, and whether you agreed",
    positionals: [],
    flags: [],
    load: () => import("./commands/consent_show.ts"),
  },
  {
    name: "consent grant",
    summary: "agree to this configuration in this workspace",
    positionals: [],
    flags: [{
      name: "allow-insecure-http",
      type: "texts",
      value: "ORIGIN",
      summary: "also agree to plain HTTP to this other machine: anybody between can read it",
    }],
    load: () => import("./commands/consent_grant.ts"),
  },
  {
    name: "consent revoke",
    summary: "take the agreement back",
    positionals: [],
    flags: [],
    load: () => import("./commands/consent_revoke.ts"),
  },
  {
    name: "config show",
    summary: "show the settings of this workspace with their origin",
    positionals: [],
    flags: [{
      name: "effective",
      type: "switch",
      value: "",
      summary: "also the defaults that the file leaves out",
    }],
    load: () => import("./commands/config_show.ts"),
  },
  {
    name: "task list",
    summary: "list the tasks of this workspace, newest first",
    positionals: [],
    flags: [{ name: "all", type: "switch", value: "", summary: "every page, not only the first" }],
    load: () => import("./commands/task_list.ts"),
  },
  {
    name: "task show",
    summary: "show one task: state, operations, denials, result",
    positionals: [{ name: "ID", required: true, summary: "the task" }],
    flags: [],
    load: () => import("./commands/task_show.ts"),
  },
  {
    name: "task diff",
    summary: "show the changes that were observed at the end of a task",
    positionals: [{ name: "ID", required: true, summary: "the task" }],
    flags: [],
    load: () => import("./commands/task_diff.ts"),
  },
  {
    name: "task approve",
    summary: "allow the operation a task is blocked on, once",
    positionals: [{ name: "ID", required: true, summary: "the operation, or its task" }],
    flags: [],
    load: () => import("./commands/task_approve.ts"),
  },
  {
    name: "task deny",
    summary: "refuse the operation a task is blocked on",
    positionals: [{ name: "ID", required: true, summary: "the operation, or its task" }],
    flags: [{ name: "reason", type: "text", value: "TEXT", summary: "the model reads it" }],
    load: () => import("./commands/task_deny.ts"),
  },
  {
    name: "task extend",
    summary: "give a task more budget",
    positionals: [{ name: "ID", required: true, summary: "the task" }],
    flags: [
      { name: "turns", type: "text", value: "N", summary: "so many turns more" },
      { name: "tool-calls", type: "text", value: "N", summary: "so many tool calls more" },
      { name: "tokens", type: "text", value: "N", summary: "so many tokens more" },
      { name: "seconds", type: "text", value: "N", summary: "so many active seconds more" },
    ],
    load: () => import("./commands/task_extend.ts"),
  },
  {
    name: "grants list",
    summary: "list what was allowed here, newest first, and what became of it",
    positionals: [],
    flags: [
      { name: "task", type: "text", value: "ID", summary: "only this task's" },
      { name: "all", type: "switch", value: "", summary: "every page, not only the first" },
    ],
    load: () => import("./commands/grants_list.ts"),
  },
  {
    name: "grants revoke",
    summary: "take a grant back",
    positionals: [{ name: "ID", required: true, summary: "the grant" }],
    flags: [],
    load: () => import("./commands/grants_revoke.ts"),
  },
  {
    name: "session list",
    summary: "list the conversations of this workspace, newest first",
    positionals: [],
    flags: [{ name: "all", type: "switch", value: "", summary: "every page, not only the first" }],
    load: () => import("./commands/session_list.ts"),
  },
  {
    name: "session open",
    summary: "show a conversation; nothing is executed",
    positionals: [{ name: "ID", required: true, summary: "the session" }],
    flags: [],
    load: () => import("./commands/session_open.ts"),
  },
  {
    name: "session resume",
    summary: "go on with a blocked task in a new attempt",
    positionals: [{ name: "ID", required: true, summary: "the session, or one of its tasks" }],
    flags: [
      ...TASK_FLAGS,
      {
        name: "accept-unknown",
        type: "texts",
        value: "ID",
        summary: "go on although nobody knows whether this operation happened",
      },
      {
        name: "retry-unknown",
        type: "texts",
        value: "ID",
        summary: "do this operation again although it may have happened",
      },
    ],
    load: () => import("./commands/session_resume.ts"),
  },
  {
    name: "replay",
    summary: "show the timeline of a task, rebuilt from its journal events",
    positionals: [{ name: "ID", required: true, summary: "the task" }],
    flags: [],
    load: () => import("./commands/replay.ts"),
  },
  {
    name: "completions",
    summary: "print a completion script for a shell",
    positionals: [{ name: "SHELL", required: true, summary: "bash, zsh or fish" }],
    flags: [],
    load: () => import("./commands/completions.ts"),
  },
  {
    name: "doctor",
    summary: "check this machine and this workspace, with a remedy for each problem",
    positionals: [],
    flags: [],
    load: () => import("./commands/doctor.ts"),
  },
];
