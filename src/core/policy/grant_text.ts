import { visible } from "../text/visible.ts";
import { formatCommand } from "./command_scope.ts";
import type { Grant } from "./grant.ts";

/** What a grant covers, on one line for people. A key that cannot be read is shown as it is. */
export function describeGrantKey({ covers, key }: Pick<Grant, "covers" | "key">): string {
  if (covers === "touch") return `changes of ${visible(key)}`;
  const parts = parse(key);
  // The answer to an approval of a command holds its scope and what it was bound to.
  const scope = covers === "exact" && typeof parts[0] === "string" && parts[0].startsWith("[")
    ? parse(parts[0])
    : parts;
  const [type, second, third, fourth] = scope;
  if (type === "command" && isTexts(third)) {
    const folder = fourth === "." || typeof fourth !== "string" ? "" : ` in ${visible(fourth)}`;
    return `${formatCommand(third)}${folder}`;
  }
  if (type === "file" && typeof second === "string" && typeof third === "string") {
    return `${second} ${visible(third)}`;
  }
  return visible(key);
}

function parse(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
