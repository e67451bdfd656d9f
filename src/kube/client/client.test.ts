import assert from "node:assert/strict";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { TransportError } from "../../transport/errors.ts";
import { createAuthority } from "../../transport/testing/certificates.ts";
import { eventually } from "../../transport/testing/eventually.ts";
import { heldAddress, startServer } from "../../transport/testing/local-server.ts";
import type { WatchEvent } from "./api.ts";
import type { SentRequest } from "./api-server.ts";
import { connectKube, type KubeClientOptions } from "./client.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { ApiError, isConflict, isExpired, isNotFound } from "./errors.ts";
import { Lease, Pod } from "../objects/kinds.ts";

interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: unknown;
}

type Reply = { status?: number; headers?: Record<string, string>; body?: unknown };
type Handler = (seen: Seen, count: number, stream: ServerHttp2Stream) => Reply | undefined;

/** An API server whose answers a test gives; a handler that answers undefined deals with the stream itself. */
async function startKube(handler: Handler, options: Partial<KubeClientOptions> = {}) {
  const requests: Seen[] = [];
  const sent: SentRequest[] = [];
  const server = await startServer((stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const url = new URL(headers[":path"] ?? "/", "http://server");
      const text = Buffer.concat(chunks).toString();
      const seen: Seen = {
        method: headers[":method"] ?? "",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers,
        body: text === "" ? undefined : JSON.parse(text),
      };
      requests.push(seen);
      const reply = handler(seen, requests.length, stream);
      if (!reply || stream.destroyed) return;
      stream.respond({ ":status": reply.status ?? 200, "content-type": "application/json", ...reply.headers });
      stream.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}));
    });
  });
  const client = connectKube({
    credentials: plain(server.url),
    observeRequest: (request) => sent.push(request),
    ...options,
  });
  return {
    client,
    server,
    requests,
    sent,
    async [Symbol.asyncDispose]() {
      client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

function plain(server: string): Credentials {
  return { server, tls: () => ({}), authorization: () => "Bearer secret", forget: () => {} };
}

const key = { namespace: "a", name: "x" };
const pod: Pod = { metadata: { ...key }, spec: { containers: [] } };
const status = (code: number, reason: string, more = {}) => ({
  status: code,
  body: { kind: "Status", code, reason, message: reason, ...more },
});

describe("requests", () => {
  test("say what is wanted by path, query, header and body", async () => {
    await using kube = await startKube(() => ({ body: { metadata: { name: "x" } } }));
    const { client, requests } = kube;
    const got = await client.get(Pod, key);
    assert.equal(got.metadata?.name, "x");
    await client.create(Pod, pod, { fieldManager: "op", dryRun: true });
    await client.replace(Pod, pod, { subresource: "status" });
    await client.apply(Pod, pod, { fieldManager: "op", force: true });
    await client.mergePatch(Pod, key, { metadata: { labels: { a: null } } });
    await client.delete(Pod, key, { uid: "u", resourceVersion: "7", gracePeriodSeconds: 0 });
    await client.raw("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: {} });
    const at = "/api/v1/namespaces/a/pods";
    const typed = { apiVersion: "v1", kind: "Pod", ...pod };
    assert.deepEqual(
      requests.map(({ method, path, query, headers, body }) => [method, path, query, headers["content-type"], body]),
      [
        ["GET", `${at}/x`, {}, undefined, undefined],
        ["POST", at, { fieldManager: "op", dryRun: "All" }, "application/json", typed],
        ["PUT", `${at}/x/status`, {}, "application/json", typed],
        ["PATCH", `${at}/x`, { fieldManager: "op", force: "true" }, "application/apply-patch+yaml", typed],
        ["PATCH", `${at}/x`, {}, "application/merge-patch+json", { metadata: { labels: { a: null } } }],
        [
          "DELETE",
          `${at}/x`,
          {},
          "application/json",
          {
            apiVersion: "v1",
            kind: "DeleteOptions",
            preconditions: { uid: "u", resourceVersion: "7" },
            gracePeriodSeconds: 0,
          },
        ],
        ["POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}, "application/json", { spec: {} }],
      ],
    );
    for (const { headers } of requests) assert.equal(headers.authorization, "Bearer secret");
    assert.equal(kube.server.sockets.length, 1);
  });

  test("a path in the server's URL goes before every request's", async () => {
    await using kube = await startKube(() => ({}));
    using client = connectKube({ credentials: plain(`${kube.server.url}/k8s/clusters/c-1/`) });
    await client.raw("GET", "/version");
    assert.equal(kube.requests[0]?.path, "/k8s/clusters/c-1/version");
  });

  test("raw gives text where the answer is no JSON", async () => {
    await using kube = await startKube(() => ({ headers: { "content-type": "text/plain" }, body: "ok" }));
    assert.equal(await kube.client.raw("GET", "/readyz"), "ok");
  });

  test("a list comes page by page, and the last page says so", async () => {
    await using kube = await startKube((seen) => {
      const page = Number(seen.query["continue"] ?? 0);
      const next = page < 2 ? String(page + 1) : "";
      return {
        body: { metadata: { resourceVersion: "9", continue: next }, items: [{ metadata: { name: `p${page}` } }] },
      };
    });
    const selection = { namespace: "a", limit: 1, labelSelector: "app=etcd" };
    const first = await kube.client.list(Pod, { ...selection, resourceVersion: "5" });
    const second = await kube.client.list(Pod, { ...selection, continue: first.continue ?? "" });
    const third = await kube.client.list(Pod, { ...selection, continue: second.continue ?? "" });
    assert.deepEqual(
      [first, second, third].map(({ items, resourceVersion }) => [items[0]?.metadata?.name, resourceVersion]),
      [
        ["p0", "9"],
        ["p1", "9"],
        ["p2", "9"],
      ],
    );
    assert.equal(third.continue, undefined);
    assert.deepEqual(
      kube.requests.map((request) => request.query),
      [
        { labelSelector: "app=etcd", limit: "1", resourceVersion: "5" },
        { labelSelector: "app=etcd", limit: "1", continue: "1" },
        { labelSelector: "app=etcd", limit: "1", continue: "2" },
      ],
    );
  });
});

describe("refusals", () => {
  test("become ApiErrors that differ by reason", async () => {
    await using kube = await startKube((seen) =>
      seen.method === "GET" ? status(404, "NotFound") : status(409, "Conflict"),
    );
    await assert.rejects(kube.client.get(Pod, key), isNotFound);
    await assert.rejects(kube.client.replace(Pod, pod), isConflict);
    assert.equal(kube.requests.length, 2, "neither is repeated");
  });

  test("429 with Retry-After is repeated once that time has passed, a create too", async () => {
    await using kube = await startKube((_seen, count) =>
      count === 1 ? { ...status(429, "TooManyRequests"), headers: { "retry-after": "1" } } : { body: pod },
    );
    const before = performance.now();
    await kube.client.create(Pod, pod);
    assert.ok(performance.now() - before >= 1000, "came back before it was asked to");
    assert.deepEqual(
      kube.sent.map(({ verb, resource, outcome, attempt }) => [verb, resource, outcome, attempt]),
      [
        ["create", "pods", 429, 1],
        ["create", "pods", 200, 2],
      ],
    );
  });

  test("when the server asks for more time than there is, the refusal is given at once", async () => {
    await using kube = await startKube(() => ({ ...status(429, "TooManyRequests"), headers: { "retry-after": "60" } }));
    await assert.rejects(
      kube.client.get(Pod, key, { deadline: 2000 }),
      (error) => error instanceof ApiError && error.code === 429 && error.retryAfter === 60_000,
    );
    assert.equal(kube.requests.length, 1);
  });

  test("an internal error is repeated for a read, not for a create", async () => {
    await using kube = await startKube((_seen, count) =>
      count % 2 === 1 ? status(500, "InternalError") : { body: pod },
    );
    await kube.client.get(Pod, key);
    await assert.rejects(kube.client.create(Pod, pod), (error) => error instanceof ApiError && error.code === 500);
    assert.equal(kube.requests.length, 3);
  });
});

describe("failures of the connection", () => {
  test("a read that broke off is repeated, a create is not", async () => {
    await using kube = await startKube((_seen, count, stream) => {
      if (count !== 1 && count !== 3) return { body: pod };
      stream.destroy(new Error("reset"));
      return undefined;
    });
    await kube.client.get(Pod, key);
    await assert.rejects(
      kube.client.create(Pod, pod),
      (error) => error instanceof TransportError && error.failure === "broken" && !error.neverSent,
    );
    assert.equal(kube.requests.length, 3);
  });

  test("an answer cut short inside its JSON is broken, not an object", async () => {
    await using kube = await startKube(() => ({ body: '{"metadata":{"name":' }));
    await assert.rejects(
      kube.client.create(Pod, pod),
      (error) => error instanceof TransportError && error.failure === "broken",
    );
  });

  test("a create waits for a server that is not there yet", async () => {
    await using address = await heldAddress();
    const sent: SentRequest[] = [];
    using client = connectKube({
      credentials: plain(`http://${address.host}:${address.port}`),
      observeRequest: (request) => sent.push(request),
    });
    const created = client.create(Pod, pod);
    await eventually("an attempt fails", () => sent.length > 0);
    assert.equal(sent[0]?.outcome, "unreachable");
    await using server = await startServer(
      (stream) => {
        stream.respond({ ":status": 201 });
        stream.end(JSON.stringify(pod));
      },
      {},
      address,
    );
    assert.deepEqual(await created, pod);
    assert.equal(server.sockets.length, 1);
  });

  test("a deadline covers everything", async () => {
    await using kube = await startKube(() => undefined);
    await assert.rejects(
      kube.client.get(Pod, key, { deadline: 80 }),
      (error) => error instanceof TransportError && error.failure === "deadline",
    );
  });

  test("an abort ends a pause between attempts, with the caller's reason", async () => {
    await using kube = await startKube(() => ({
      ...status(503, "ServiceUnavailable"),
      headers: { "retry-after": "20" },
    }));
    const controller = new AbortController();
    const result = kube.client.get(Pod, key, { signal: controller.signal });
    await eventually("the first attempt is refused", () => kube.sent.length === 1);
    const reason = new Error("shutting down");
    controller.abort(reason);
    await assert.rejects(result, (error) => error === reason);
  });
});

describe("watches", () => {
  const watchOptions = { namespace: "a", resourceVersion: "5", signal: new AbortController().signal };

  test("deliver events in order and end when the server ends them", async () => {
    await using kube = await startKube((_seen, _count, stream) => {
      stream.respond({ ":status": 200 });
      for (let n = 0; n < 500; n += 1) {
        const object = { metadata: { name: `p${n}`, resourceVersion: String(n) } };
        stream.write(`${JSON.stringify({ type: n % 2 === 0 ? "ADDED" : "DELETED", object })}\n`);
      }
      stream.end(`${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "900" } } })}\n`);
      return undefined;
    });
    const events: WatchEvent<Pod>[] = [];
    await kube.client.watch(Pod, { ...watchOptions, timeoutSeconds: 60 }, (event) => events.push(event));
    assert.equal(events.length, 501);
    events.slice(0, 500).forEach((event, n) => {
      assert.ok(event.type !== "BOOKMARK");
      assert.equal(event.object.metadata?.name, `p${n}`);
    });
    assert.deepEqual(events[500], { type: "BOOKMARK", resourceVersion: "900" });
    assert.deepEqual(kube.requests[0]?.query, {
      watch: "1",
      allowWatchBookmarks: "true",
      resourceVersion: "5",
      timeoutSeconds: "60",
    });
  });

  test("an expired version is the same error as an answer and inside the stream", async () => {
    await using kube = await startKube((_seen, count, stream) => {
      const refusal = status(410, "Expired");
      if (count === 1) return refusal;
      stream.respond({ ":status": 200 });
      stream.write(`${JSON.stringify({ type: "ERROR", object: refusal.body })}\n`);
      return undefined;
    });
    await assert.rejects(
      kube.client.watch(Pod, watchOptions, () => {}),
      isExpired,
    );
    await assert.rejects(
      kube.client.watch(Pod, watchOptions, () => {}),
      isExpired,
    );
  });

  test("what a handler throws ends the watch", async () => {
    await using kube = await startKube((_seen, _count, stream) => {
      stream.respond({ ":status": 200 });
      stream.write('{"type":"ADDED","object":{}}\n{"type":"ADDED","object":{}}\n');
      return undefined;
    });
    const reason = new Error("handler");
    let calls = 0;
    const watching = kube.client.watch(Pod, watchOptions, () => {
      calls += 1;
      throw reason;
    });
    await assert.rejects(watching, (error) => error === reason);
    assert.equal(calls, 1);
  });

  test("a stream that breaks off, or ends inside an event, is broken and not repeated", async () => {
    await using kube = await startKube((_seen, count, stream) => {
      stream.respond({ ":status": 200 });
      if (count === 1) stream.end('{"type":"ADDED","obj');
      else stream.write('{"type":"ADDED","object":{}}\n', () => kube.server.cut());
      return undefined;
    });
    const isBroken = (error: unknown) => error instanceof TransportError && error.failure === "broken";
    await assert.rejects(
      kube.client.watch(Pod, watchOptions, () => {}),
      isBroken,
    );
    await assert.rejects(
      kube.client.watch(Pod, watchOptions, () => {}),
      isBroken,
    );
    assert.equal(kube.requests.length, 2);
  });

  test("an abort ends a quiet watch with the caller's reason", async () => {
    await using kube = await startKube((_seen, _count, stream) => {
      stream.respond({ ":status": 200 });
      return undefined;
    });
    const controller = new AbortController();
    const reason = new Error("stop");
    const watching = kube.client.watch(Pod, { ...watchOptions, signal: controller.signal }, () => {});
    await eventually("the watch is open", () => kube.requests.length === 1);
    controller.abort(reason);
    await assert.rejects(watching, (error) => error === reason);
  });

  test("150 of them leave room for requests", async () => {
    await using kube = await startKube((seen, _count, stream) => {
      if (seen.query["watch"] === undefined) return { body: pod };
      stream.respond({ ":status": 200 });
      return undefined;
    });
    const controller = new AbortController();
    const watches = Array.from({ length: 150 }, () =>
      kube.client.watch(Lease, { ...watchOptions, signal: controller.signal }, () => {}),
    );
    await eventually(
      "all are open",
      () => kube.requests.length === 150,
      () => kube.requests.length,
    );
    await kube.client.get(Pod, key);
    controller.abort(new Error("enough"));
    for (const result of await Promise.allSettled(watches)) assert.equal(result.status, "rejected");
  });
});

describe("credentials", () => {
  const rotating = (server: string) => {
    let token = "old";
    let forgotten = 0;
    const credentials: Credentials = {
      server,
      tls: () => ({}),
      authorization: () => `Bearer ${token}`,
      forget() {
        forgotten += 1;
        token = "new";
      },
    };
    return { credentials, forgotten: () => forgotten };
  };
  const authorized: Handler = (seen, _count, stream) => {
    if (seen.headers.authorization !== "Bearer new") return status(401, "Unauthorized");
    if (seen.query["watch"] === undefined) return { body: pod };
    stream.respond({ ":status": 200 });
    stream.end();
    return undefined;
  };

  test("may be those of one who speaks for another, with all groups", async () => {
    await using kube = await startKube(() => ({ body: pod }));
    const impersonation = { user: "ada", uid: "7", groups: ["ops", "dev"] };
    using client = connectKube({ credentials: { ...plain(kube.server.url), impersonation } });
    await client.get(Pod, key);
    const headers = kube.requests.at(-1)?.headers ?? {};
    const sent = ["impersonate-user", "impersonate-uid", "impersonate-group"].map((name) => headers[name]);
    assert.deepEqual(sent, ["ada", "7", "ops, dev"]);
  });

  test("are read again once after 401, for requests and watches, and the call goes through", async () => {
    await using kube = await startKube(authorized);
    const forRequest = rotating(kube.server.url);
    using first = connectKube({ credentials: forRequest.credentials });
    await first.create(Pod, pod);
    assert.equal(forRequest.forgotten(), 1);
    const forWatch = rotating(kube.server.url);
    using second = connectKube({ credentials: forWatch.credentials });
    await second.watch(Pod, { resourceVersion: "1", signal: new AbortController().signal }, () => {});
    assert.equal(forWatch.forgotten(), 1);
  });

  test("that stay wrong fail after the second 401", async () => {
    await using kube = await startKube(() => status(401, "Unauthorized"));
    const { credentials, forgotten } = rotating(kube.server.url);
    using client = connectKube({ credentials });
    await assert.rejects(client.get(Pod, key), (error) => error instanceof ApiError && error.code === 401);
    assert.equal(forgotten(), 1);
    assert.equal(kube.requests.length, 2);
  });

  test("a renewed certificate is presented on a new connection after 401", async () => {
    const authority = await createAuthority("authority");
    const serverPem = await authority.issue("server", { hosts: ["127.0.0.1"] });
    const old = await authority.issue("old");
    const renewed = await authority.issue("renewed");
    await using server = await startServer(
      (stream) => {
        const socket = stream.session?.socket as TLSSocket;
        const name = socket.getPeerCertificate().subject.CN;
        stream.respond({ ":status": name === "renewed" ? 200 : 401 });
        stream.end("{}");
      },
      { tls: true, ...serverPem, ca: authority.cert, requestCert: true },
    );
    let current = old;
    using client = connectKube({
      credentials: {
        server: server.url,
        tls: () => ({ ca: authority.cert, ...current }),
        authorization: () => undefined,
        forget() {
          current = renewed;
        },
      },
    });
    await client.get(Pod, key);
    assert.equal(server.sockets.length, 2);
  });
});
