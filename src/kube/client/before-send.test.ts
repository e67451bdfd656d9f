import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../transport/testing/local-server.ts";
import { connectKube } from "./client.ts";
import { LeadershipLost, fenced, type Fence } from "../leader/fence.ts";
import { ConfigMap } from "../objects/kinds.ts";

/** Holds for this number of checks, the one before the call included. */
function fenceFor(checks: number): Fence {
  let left = checks;
  const holds = (): boolean => {
    left -= 1;
    return left >= 0;
  };
  const check = (): void => {
    if (!holds()) throw new LeadershipLost("n/lease", "test");
  };
  return { holds, check, signal: new AbortController().signal };
}

async function busyServer() {
  let requests = 0;
  const server = await startServer((stream) => {
    requests += 1;
    stream.respond({ ":status": 429, "retry-after": "0", "content-type": "application/json" });
    stream.end(JSON.stringify({ kind: "Status", code: 429, reason: "TooManyRequests", message: "busy" }));
  });
  const credentials = { server: server.url, tls: () => ({}), authorization: () => undefined, forget: () => {} };
  const client = connectKube({ credentials });
  return {
    client,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a write that is repeated checks the fence each time it is sent", async () => {
  await using server = await busyServer();
  const writing = fenced(server.client, fenceFor(3)).create(ConfigMap, { metadata: { namespace: "n", name: "a" } });
  await assert.rejects(writing, LeadershipLost);
  assert.equal(server.requests(), 2);
});

test("a write that waited for its connection while the fence fell is not sent", async () => {
  await using server = await busyServer();
  const writing = fenced(server.client, fenceFor(1)).create(ConfigMap, { metadata: { namespace: "n", name: "a" } });
  await assert.rejects(writing, LeadershipLost);
  assert.equal(server.requests(), 0);
});
