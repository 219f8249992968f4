import assert from "node:assert/strict";
import { RawServer, sse } from "../../support/raw_server.ts";

Deno.test("removeProxyVariables() lets no request go through a proxy", async () => {
  await using proxy = new RawServer([]);
  await using server = new RawServer([{ bytes: sse("data: [DONE]\n\n") }]);
  const module = new URL("../../../src/runtime/providers/proxy_environment.ts", import.meta.url);
  const ask = (before: string) =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        `import { removeProxyVariables } from "${module}"; ${before}
        await fetch("${server.origin}/").then((r) => r.text());`,
      ],
      env: {
        HTTP_PROXY: proxy.origin,
        http_proxy: proxy.origin,
        HTTPS_PROXY: proxy.origin,
        ALL_PROXY: proxy.origin,
        NO_PROXY: "",
        no_proxy: "",
      },
    }).output();
  const removed = await ask("removeProxyVariables();");
  assert.equal(removed.success, true, new TextDecoder().decode(removed.stderr));
  assert.deepEqual(proxy.requests, []);
  assert.equal(server.requests.length, 1);
  await ask("void removeProxyVariables;");
  assert.equal(proxy.requests.length, 1, "the proxy would have been used: the test can fail");
});
