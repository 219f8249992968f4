import { refuse } from "./_refusal.ts";

/** Names that no operation touches, at any depth and in any case. */
export const PROTECTED_NAMES: readonly string[] = [".git", ".fluzo", ".fluzodrive"];
/** What an unfinished change is called until it takes its place. */
export const TEMPORARY_PREFIX = ".fluzo-tmp-";

/** The kernel's bounds, checked here for a clear answer. */
const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

const encoder = new TextEncoder();

/**
 * Splits a requested path into names; the root itself gives none. `.` and doubled slashes fall
 * away. `..` is refused even where it would stay inside: what it means depends on links.
 */
export function pathParts(path: string): string[] {
  if (path === "") refuse("invalid_name", path, "The path is empty");
  if (!path.isWellFormed() || path.includes("\0")) {
    refuse("invalid_name", path, "The path holds a NUL or half a surrogate pair");
  }
  if (path.startsWith("/")) {
    refuse("outside_workspace", path, "Paths are relative to the workspace root");
  }
  if (encoder.encode(path).length > MAX_PATH_BYTES) {
    refuse("invalid_name", path, `The path is longer than ${MAX_PATH_BYTES} bytes`);
  }
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  for (const part of parts) {
    if (part === "..") refuse("outside_workspace", path, 'A path may not hold ".."');
    if (isProtectedName(part)) refuse("protected_path", path);
    if (encoder.encode(part).length > MAX_NAME_BYTES) {
      refuse("invalid_name", path, `A name is longer than ${MAX_NAME_BYTES} bytes`);
    }
  }
  return parts;
}

/** True for a protected name in any case, and for a temporary of ours. */
export function isProtectedName(name: string): boolean {
  const lower = name.toLowerCase();
  return PROTECTED_NAMES.includes(lower) || lower.startsWith(TEMPORARY_PREFIX);
}
