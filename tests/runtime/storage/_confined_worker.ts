import { DatabaseSync } from "node:sqlite";

/** Tries one thing after another; answers what became of each. */
self.onmessage = async ({ data }: MessageEvent<{ root: string; directory: string }>) => {
  const { root, directory } = data;
  const attempts: Record<string, () => unknown> = {
    "write inside": () => Deno.writeTextFileSync(`${directory}/a`, "a"),
    "read inside": () => Deno.readTextFileSync(`${directory}/a`),
    "database inside": () => new DatabaseSync(`${directory}/db`).close(),
    "read outside": () => Deno.readTextFileSync(`${root}/secret`),
    "write outside": () => Deno.writeTextFileSync(`${root}/secret`, "y"),
    "list outside": () => [...Deno.readDirSync(root)],
    "climb out": () => Deno.readTextFileSync(`${directory}/../secret`),
    "database outside": () => new DatabaseSync(`${root}/db`).close(),
    "rename out": () => Deno.renameSync(`${directory}/a`, `${root}/a`),
    "environment": () => Deno.env.get("HOME"),
    "process": () => new Deno.Command("/bin/true").outputSync(),
    "user id": () => Deno.uid(),
    "library": () => Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {}),
    "network": () => Deno.listen({ port: 0, hostname: "127.0.0.1" }),
  };
  const outcomes: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      outcomes[name] = "done";
    } catch (thrown) {
      outcomes[name] = thrown instanceof Error ? thrown.name : String(thrown);
    }
  }
  self.postMessage(outcomes);
};
