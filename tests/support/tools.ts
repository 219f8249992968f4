/**
 * Whether a program that only some tests need is there. A test that needs a missing one is skipped,
 * and its name says which one it was: `name(…)` puts it there.
 */
export function hasTool(tool: string): boolean {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    try {
      if (folder !== "" && Deno.statSync(`${folder}/${tool}`).isFile) return true;
    } catch {
      // Not in this folder.
    }
  }
  return false;
}

/** A test that needs a program beyond a shell, the core utilities and Git. */
export function testWith(tool: string, name: string, fn: () => Promise<void>): void {
  const there = hasTool(tool);
  Deno.test({ name: there ? name : `${name} (needs ${tool})`, ignore: !there, fn });
}
