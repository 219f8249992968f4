import { editTool } from "./edit.ts";
import { gitTool } from "./git.ts";
import { listTool } from "./list.ts";
import { readTool } from "./read.ts";
import { removeTool } from "./remove.ts";
import { renameTool } from "./rename.ts";
import { runTool } from "./run.ts";
import { searchTool } from "./search.ts";
import { shellTool } from "./shell.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write.ts";

/** Every tool the model has, in the order it sees them. */
const TOOLS: readonly Tool[] = [
  readTool,
  listTool,
  searchTool,
  editTool,
  writeTool,
  removeTool,
  renameTool,
  runTool,
  shellTool,
  gitTool,
];

const BY_NAME = new Map(TOOLS.map((tool) => [tool.definition.name, tool]));

/** The definitions to send with each request. */
export const TOOL_DEFINITIONS = TOOLS.map((tool) => tool.definition);

/** The tool of that exact name, or null. */
export function findTool(name: string): Tool | null {
  return BY_NAME.get(name) ?? null;
}
