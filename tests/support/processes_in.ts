import assert from "node:assert/strict";

/** Processes whose current folder is there, or below: what was started in a workspace and still runs. */
export function processesIn(path: string): readonly number[] {
  const found: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const folder = Deno.readLinkSync(`/proc/${name}/cwd`);
      if (folder === path || folder.startsWith(`${path}/`)) found.push(Number(name));
    } catch (failure) {
      // Another user's, or gone meanwhile.
      if (
        !(failure instanceof Deno.errors.NotFound || failure instanceof Deno.errors.NotCapable ||
          failure instanceof Deno.errors.PermissionDenied)
      ) throw failure;
    }
  }
  return found;
}

/** Waits until nothing that was started in the folder runs any more. */
export async function nobodyIn(path: string, timeoutMs: number): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (let left = processesIn(path); left.length > 0; left = processesIn(path)) {
    assert.ok(Date.now() < end, `still running in ${path}: ${left.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
