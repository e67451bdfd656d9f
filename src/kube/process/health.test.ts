import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { checked, serveEndpoints, type Endpoint } from "./health.ts";
import { parseListenAddress } from "./listen-address.ts";

interface Answer {
  status: number | undefined;
  type: string | undefined;
  body: string;
}

function ask(host: string, port: number | undefined, path: string, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, method, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve({ status: response.statusCode, type: response.headers["content-type"], body }));
    });
    sent.on("error", reject).end();
  });
}

const text = (body: string) => (): Endpoint => ({ status: 200, contentType: "text/plain", body });

for (const host of ["127.0.0.1", "::1"]) {
  test(`endpoints answer on ${host}`, async (t) => {
    const address = parseListenAddress(host.includes(":") ? `[${host}]:0` : `${host}:0`);
    const served = await serveEndpoints(address, { "/metrics": text("a 1\n") });
    t.after(() => served.close());
    assert.deepEqual(await ask(host, served.port, "/metrics?x=1"), { status: 200, type: "text/plain", body: "a 1\n" });
    assert.deepEqual(await ask(host, served.port, "/metrics", "HEAD"), { status: 200, type: "text/plain", body: "" });
    assert.equal((await ask(host, served.port, "/metrics", "POST")).status, 405);
    assert.equal((await ask(host, served.port, "/constructor")).status, 404);
  });
}

test("a check that does not hold makes the answer 503 and is named with its reason", async (t) => {
  let synced: true | string = "not listed yet";
  const checks = [
    { name: "pods", holds: () => synced },
    { name: "process", holds: () => true as const },
  ];
  const served = await serveEndpoints(parseListenAddress("127.0.0.1:0"), { "/readyz": checked(() => checks) });
  t.after(() => served.close());
  const unready = await ask("127.0.0.1", served.port, "/readyz");
  assert.deepEqual([unready.status, unready.body], [503, "not ok pods: not listed yet\nok process\n"]);
  synced = true;
  const ready = await ask("127.0.0.1", served.port, "/readyz");
  assert.deepEqual([ready.status, ready.body], [200, "ok pods\nok process\n"]);
});

test("an endpoint that throws is a 500, not the end of the process", async (t) => {
  const broken = (): Endpoint => {
    throw new Error("broken");
  };
  const served = await serveEndpoints(parseListenAddress("127.0.0.1:0"), { "/metrics": broken });
  t.after(() => served.close());
  assert.equal((await ask("127.0.0.1", served.port, "/metrics")).status, 500);
});

test("a port that is taken is reported", async (t) => {
  const first = await serveEndpoints(parseListenAddress("127.0.0.1:0"), {});
  t.after(() => first.close());
  await assert.rejects(serveEndpoints(parseListenAddress(`127.0.0.1:${first.port}`), {}), { code: "EADDRINUSE" });
});

test("nowhere means that nothing is served", async () => {
  const served = await serveEndpoints(parseListenAddress("0"), {});
  assert.equal(served.port, undefined);
  await served.close();
});
