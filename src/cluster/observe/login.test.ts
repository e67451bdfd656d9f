// Where the operator's login comes from, how often it is asked for, and what is said when it is not good.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import type { EtcdReason } from "../../etcd/errors.ts";
import { Login } from "../../etcd/login.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { TransportError } from "../../transport/errors.ts";
import { sampleCluster } from "../testing/sample-world.ts";
import { Logins, type LoginSource, troubleWith } from "./login.ts";
import type { AccessTrouble } from "./world.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const secret = (data: Record<string, string>): Secret => ({
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
});
const good = secret({ username: "root", password: "open sesame" });
const named = (operatorSecret: string) => sampleCluster({ spec: { auth: { operatorSecret } } });

/** A server with one Secret, or an error in its place. */
function server(first: Secret | Error | undefined) {
  const state = { now: 0, holds: first, asked: [] as string[] };
  const read = ({ namespace, name }: { namespace: string; name: string }): Promise<Secret | undefined> => {
    state.asked.push(`${namespace}/${name}`);
    return state.holds instanceof Error ? Promise.reject(state.holds) : Promise.resolve(state.holds);
  };
  const logins = new Logins(() => state.now);
  const reading = { given: { read }, signal: new AbortController().signal } as never;
  return { state, logins, reading };
}

describe("a login", () => {
  test("is read from the Secret that the spec names, once", async () => {
    const { state, logins, reading } = server(good);
    const source = await logins.of(named("login"), reading);
    assert.deepEqual(source.t === "given" && [source.login.username, source.login.password], ["root", "open sesame"]);
    state.now = 1_000_000;
    assert.equal(await logins.of(named("login"), reading), source);
    assert.equal(logins.known(named("login")), source.t === "given" && source.login);
    assert.deepEqual(state.asked, ["shop/login"]);
  });

  test("is what a person typed, without the line end that many editors add", async () => {
    const { logins, reading } = server(secret({ username: "root\n", password: "open sesame\r\n" }));
    await logins.of(named("login"), reading);
    assert.equal(logins.known(named("login"))?.isSame(new Login("root", "open sesame")), true);
  });

  test("is not asked for where the spec names none, and is forgotten when it names none any more", async () => {
    const { state, logins, reading } = server(good);
    for (const auth of [undefined, {}, { operatorSecret: "" }])
      assert.deepEqual(await logins.of(sampleCluster({ spec: { auth } }), reading), { t: "none" });
    assert.deepEqual(state.asked, []);
    await logins.of(named("login"), reading);
    await logins.of(sampleCluster({}), reading);
    assert.equal(logins.known(named("login")), undefined);
  });

  test("is read again when the spec names another Secret", async () => {
    const { state, logins, reading } = server(good);
    await logins.of(named("login"), reading);
    assert.equal(logins.known(named("other")), undefined);
    await logins.of(named("other"), reading);
    assert.deepEqual(state.asked, ["shop/login", "shop/other"]);
  });

  test("is read again when etcd refused it, not too often, and stays the same object while it is the same", async () => {
    const { state, logins, reading } = server(good);
    const cluster = named("login");
    await logins.of(cluster, reading);
    const before = logins.known(cluster);
    assert.equal(await logins.hasChanged(cluster, reading), false);
    assert.equal(state.asked.length, 1, "it was read a moment ago");
    state.now += 5000;
    assert.equal(await logins.hasChanged(cluster, reading), false);
    assert.deepEqual([state.asked.length, logins.known(cluster)], [2, before]);
    state.now += 5000;
    state.holds = secret({ username: "root", password: "another" });
    assert.equal(await logins.hasChanged(cluster, reading), true);
    assert.equal(logins.known(cluster)?.password, "another");
    logins.forget({ namespace: "shop", name: "demo" });
    assert.equal(await logins.hasChanged(cluster, reading), false);
  });

  const unusable: [string, Secret | Error | undefined, AccessTrouble["t"]][] = [
    ["a Secret that is missing", undefined, "secretMissing"],
    ["a Secret that may not be read", new ApiError(403, "Forbidden", ""), "secretForbidden"],
    ["an API server in trouble", new ApiError(500, "InternalError", ""), "secretUnread"],
    ["an API server that is silent", new TransportError("deadline", ""), "secretUnread"],
    ["a Secret without password", secret({ username: "root" }), "secretIncomplete"],
    ["a Secret with an empty user", secret({ username: "", password: "x" }), "secretIncomplete"],
    ["a Secret without data", {}, "secretIncomplete"],
  ];
  for (const [what, holds, wanted] of unusable)
    test(`cannot come from ${what}, and stops nothing else`, async () => {
      const { logins, reading, state } = server(holds);
      const source = await logins.of(named("login"), reading);
      assert.equal(source.t === "unusable" && source.trouble.t, wanted);
      assert.equal(logins.known(named("login")), undefined);
      state.now += 5000;
      assert.equal(await logins.hasChanged(named("login"), reading), false);
      state.now += 5000;
      state.holds = good;
      assert.equal(await logins.hasChanged(named("login"), reading), true);
    });

  test("that was aborted is nobody's trouble", async () => {
    const { logins, reading } = server(new Error("aborted"));
    await assert.rejects(logins.of(named("login"), reading), /aborted/);
  });

  test("shows its password nowhere", () => {
    const login = new Login("root", "open sesame");
    assert.doesNotMatch(`${JSON.stringify(login)} ${inspect(login)}`, /sesame/);
  });
});

describe("what keeps the operator out", () => {
  const given: LoginSource = { t: "given", secret: "login", login: new Login("u", "p") };
  const missing: LoginSource = { t: "unusable", secret: "login", trouble: { t: "secretMissing", secret: "login" } };
  const table: [LoginSource, EtcdReason, AccessTrouble["t"]][] = [
    [{ t: "none" }, "authRequired", "noLogin"],
    [{ t: "none" }, "permissionDenied", "certificateDenied"],
    [missing, "authRequired", "secretMissing"],
    [missing, "permissionDenied", "secretMissing"],
    [given, "wrongPassword", "wrongPassword"],
    [given, "notRoot", "notRoot"],
    [given, "permissionDenied", "notRoot"],
    [given, "invalidToken", "tokenRefused"],
  ];
  for (const [source, reason, wanted] of table)
    test(`${reason} with a login that is ${source.t} is ${wanted}`, () =>
      assert.equal(troubleWith(source, reason).t, wanted));
});
