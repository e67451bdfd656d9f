// Who gets an answer from the dashboard, and who does not.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import { serveDashboard } from "./server.ts";
import { type Answer, ask, listen, ownPage, typed } from "./testing/ask.ts";
import { admitted, type Served, served, shortPage } from "./testing/served.ts";

describe("the server of the dashboard", () => {
  let shown: Served;
  let inside: Record<string, string>;
  const to = (
    path: string,
    headers: OutgoingHttpHeaders,
    more: { method?: string; body?: string } = {},
  ): Promise<Answer> => ask({ port: shown.port, path, headers, ...more });
  const exchange = ({ port }: Served, token: string, headers: OutgoingHttpHeaders = {}): Promise<Answer> => {
    const own = { ...ownPage, origin: `http://127.0.0.1:${port}`, ...headers };
    return ask({ port, path: "/session", method: "POST", headers: own, body: token });
  };
  const paths = ["/", "/style.css", "/script.js", "/icon.svg", "/hello", "/live", "/nothing"];

  before(async () => {
    shown = await served();
    inside = await admitted(shown);
  });
  after(() => shown[Symbol.dispose]());

  test("refuses a token that is wrong, and takes the right one once", async () => {
    using another = await served();
    const { token, port } = another;
    for (const wrong of ["", "x", token.slice(1), `${token}x`])
      assert.equal((await exchange(another, wrong)).code, 403);
    for (const origin of ["http://evil.example", undefined])
      assert.equal((await exchange(another, token, { origin })).code, 403);
    const { code, headers } = await exchange(another, token);
    assert.equal(code, 200);
    assert.equal((await exchange(another, token)).code, 403);
    const [cookie = ""] = headers["set-cookie"] ?? [];
    // No script and no other site gets it, and the ports of a machine share their cookies.
    assert.match(cookie, new RegExp(`^etcd-dashboard-${port}=[\\w-]{22}; Path=/; HttpOnly; SameSite=Strict$`));
    assert.ok(!cookie.includes(token));
    assert.equal(Buffer.from(token, "base64url").length, 16);
    const own = { ...ownPage, cookie: cookie.split(";")[0] };
    assert.equal((await ask({ port, path: "/hello", headers: own })).code, 200);
    // The cookie of one run opens no other.
    assert.equal((await to("/hello", own)).code, 401);
  });

  test("breaks off an exchange that is too long", async () => {
    await assert.rejects(exchange(shown, "x".repeat(100_000)));
  });

  test("answers under its own address alone, whatever is asked for", async () => {
    const hosts = ["localhost", `localhost:${shown.port}`, "127.0.0.1", `evil.example:${shown.port}`, "127.0.0.1:1"];
    for (const host of hosts)
      for (const path of paths) {
        const { code, text } = await to(path, { ...typed, ...inside, host });
        assert.equal(code, 403, `${host} ${path}`);
        assert.doesNotMatch(text, /page/);
      }
  });

  test("answers no other site, with the cookie or without", async () => {
    const foreign: readonly OutgoingHttpHeaders[] = [
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
      { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" },
      { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      { ...ownPage, origin: "http://evil.example" },
      { ...ownPage, origin: "null" },
      { ...ownPage, origin: `https://127.0.0.1:${shown.port}` },
      { ...ownPage, origin: "http://127.0.0.1:1" },
      {},
    ];
    for (const headers of foreign)
      for (const path of paths.filter((path) => path !== "/")) {
        const asked = { ...headers, cookie: inside["cookie"] };
        assert.equal((await to(path, asked)).code, 403, `${path} ${JSON.stringify(headers)}`);
      }
  });

  test("lets the empty page be opened from anywhere, but not inside of another", async () => {
    assert.equal((await to("/", typed)).text, shortPage.html);
    assert.equal((await to("/", { ...typed, "sec-fetch-site": "cross-site" })).code, 200);
    assert.equal((await to("/", { ...typed, "sec-fetch-dest": "iframe" })).code, 403);
    assert.equal((await to("/", { ...typed, origin: "http://evil.example" })).code, 403);
  });

  test("tells nothing without the cookie", async () => {
    for (const path of ["/hello", "/live", "/live?namespace=default&name=my-etcd"]) {
      assert.equal((await to(path, ownPage)).code, 401);
      const cookie = `etcd-dashboard-${shown.port}=AAAAAAAAAAAAAAAAAAAAAA`;
      assert.equal((await to(path, { ...ownPage, cookie })).code, 401);
      assert.equal((await to(path, { ...ownPage, cookie: `${inside["cookie"]}; ${cookie}` })).code, 401);
    }
  });

  test("only reads", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
      for (const path of paths) {
        const { code, headers } = await to(path, { ...inside, origin: `http://127.0.0.1:${shown.port}` }, { method });
        assert.equal(code, 405, `${method} ${path}`);
        assert.equal(headers["access-control-allow-origin"], undefined);
      }
    assert.equal((await to("/session", inside)).code, 405);
  });

  test("knows its own paths alone: nothing is decoded, joined or handed on", async () => {
    const others = [
      "/..",
      "/../../etc/passwd",
      "/%2e%2e/%2e%2e/etc/passwd",
      "//style.css",
      "/./style.css",
      "/style.css/",
      "/api/v1/secrets",
      "/apis/etcd.database.coreos.com/v1beta2/etcdclusters",
      "/live/",
      "http://127.0.0.1/live",
      "*",
    ];
    for (const path of others) assert.equal((await to(path, inside)).code, 404, path);
    const unreadable = [
      "?namespace=default",
      "?name=my-etcd",
      "?namespace=../x&name=y",
      "?namespace=default&name=a%2Fb",
    ];
    for (const query of [...unreadable, "?namespace=kube-system&name=my-etcd"])
      assert.equal((await to(`/live${query}`, inside)).code, 404, query);
  });

  test("sends the same strict headers with every answer", async () => {
    const asked: readonly (readonly [string, OutgoingHttpHeaders])[] = [
      ["/", typed],
      ["/script.js", ownPage],
      ["/hello", inside],
      ["/hello", ownPage],
      ["/nothing", ownPage],
      ["/", { host: "evil.example" }],
    ];
    for (const [path, sent] of asked) {
      const { headers, code } = await to(path, sent);
      const policy = String(headers["content-security-policy"]).split("; ");
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ])
        assert.ok(policy.includes(rule), `${path} ${code}: ${rule}`);
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["cache-control"], "no-store");
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
  });

  test("streams the view that is open, and reads nothing once nobody watches", async () => {
    const { port, stage, feed } = shown;
    assert.equal(feed.active, 0);
    const stream = await listen({ port, path: "/live?namespace=default&name=my-etcd", headers: inside });
    const message = (await stream.next()) as { t: string; view: { quorum: { margin: number } } };
    assert.deepEqual([message.t, message.view.quorum.margin, feed.active], ["cluster", 1, 1]);
    stream[Symbol.dispose]();
    await until(() => feed.active === 0 && stage.api.watching === 0);
    stage.api.forgetRequests();
    await ask({ port, path: "/", headers: typed });
    assert.deepEqual(stage.api.requests, []);
  });

  test("limits the number of pages that it serves at a time", async () => {
    const streams = await Promise.all(
      Array.from({ length: 12 }, () => listen({ port: shown.port, path: "/live", headers: inside })),
    );
    assert.ok(streams.every(({ code }) => code === 200));
    assert.equal((await to("/live", inside)).code, 503);
    for (const stream of streams) stream[Symbol.dispose]();
    await until(() => shown.feed.active === 0);
    using one = await listen({ port: shown.port, path: "/live", headers: inside });
    assert.equal(one.code, 200);
  });

  test("listens on the loopback address alone", async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4");
    for (const { address } of others) {
      const socket = connect({ host: address, port: shown.port });
      const outcome = await new Promise((resolve) => {
        socket.once("connect", () => resolve("connected"));
        socket.once("error", () => resolve("refused"));
      });
      socket.destroy();
      assert.equal(outcome, "refused", address);
    }
  });

  test("says that a port is taken, and ends at once with pages open", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) =>
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port)),
    );
    await assert.rejects(
      serveDashboard({ feed: shown.feed, page: shortPage, port }),
      /is in use: choose another with --port/,
    );
    taken.close();
    const another = await served();
    const stream = await listen({ port: another.port, path: "/live", headers: await admitted(another) });
    another[Symbol.dispose]();
    await assert.rejects(ask({ port: another.port, path: "/", headers: typed }), /ECONNREFUSED|ECONNRESET/);
    stream[Symbol.dispose]();
    await until(() => another.feed.active === 0);
  });
});

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!holds()) {
    assert.ok(performance.now() < end, `not within a minute: ${String(holds)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
