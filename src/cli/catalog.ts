import type { CommandSpec } from "./command_line.ts";

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
      { name: "model", type: "text", value: "KEY", summary: "a model of the configuration" },
      { name: "continue", type: "switch", value: "", summary: "go on with the newest session" },
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
        name: "verify",
        type: "text",
        value: "COMMAND",
        summary: "verify with this command instead of the configured one",
      },
      {
        name: "yolo",
        type: "switch",
        value: "",
        summary: "this task only: allow what would be asked; denials stay",
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
    name: "doctor",
    summary: "check this machine and this workspace, with a remedy for each problem",
    positionals: [],
    flags: [],
    load: () => import("./commands/doctor.ts"),
  },
];
