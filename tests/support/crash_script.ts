import type { Command } from "../../mod.ts";
import type { ScriptedTurn } from "./scripted_adapter.ts";
import type { TestFolder } from "./repository.ts";
import { call } from "./test_host.ts";

/** What the first commit of the workspace holds. */
export const CRASH_FILES = { "a.txt": "one\n", "gone.txt": "bye\n" } as const;

/** Streams in pieces, so that it is written to the journal before it is whole. */
const LONG_TEXT = "word after word, ".repeat(2_000);

/** One call of each kind of effect, each with a trace in the workspace that can be counted. */
export const CRASH_SCRIPT: readonly ScriptedTurn[] = [
  call("read", { path: "a.txt" }),
  call("edit", { path: "a.txt", old_text: "one", new_text: "two" }),
  call("write", { path: "new.txt", content: "made\n" }),
  call("shell", { script: "echo ran >> ran.txt" }),
  call("rename", { path: "new.txt", to: "moved.txt" }),
  call("read", { path: "gone.txt" }),
  call("remove", { path: "gone.txt" }),
  call("shell", { script: "seq 1 20000; echo seq >> seq.txt" }),
  call("shell", { script: "echo asked >> asked.txt" }),
  { text: LONG_TEXT, pieces: 12 },
];

/** All but the last command: that one is asked for. */
export const CRASH_GRANTS: Extract<Command, { type: "start_task" }>["grants"] = [
  { type: "shell", script: "echo ran >> ran.txt" },
  { type: "shell", script: "seq 1 20000; echo seq >> seq.txt" },
];

/** An effect of the script: who asks for it, and how often it is there. */
export interface Effect {
  readonly name: string;
  /** Whether this scope of the journal is the effect's. */
  readonly asks: (scope: { readonly tool: string; readonly text: string }) => boolean;
  readonly count: (folder: TestFolder) => number;
}

/** Every effect of the script, in its order. */
export const CRASH_EFFECTS: readonly Effect[] = [
  file("edit", (folder) => folder.read("a.txt") === "two\n"),
  file("write", (folder) => folder.exists("new.txt") || folder.exists("moved.txt")),
  command("ran"),
  file("rename", (folder) => folder.exists("moved.txt")),
  file("remove", (folder) => !folder.exists("gone.txt")),
  command("seq"),
  command("asked"),
];

function file(tool: string, happened: (folder: TestFolder) => boolean): Effect {
  return {
    name: tool,
    asks: (scope) => scope.tool === tool,
    count: (folder) => happened(folder) ? 1 : 0,
  };
}

function command(word: string): Effect {
  return {
    name: word,
    asks: ({ tool, text }) => tool === "shell" && text.includes(`echo ${word} >>`),
    count: (folder) =>
      folder.exists(`${word}.txt`) ? folder.read(`${word}.txt`).split("\n").length - 1 : 0,
  };
}
