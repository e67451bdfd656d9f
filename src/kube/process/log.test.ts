import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ApiError } from "../client/errors.ts";
import { logger, type LogLevel } from "./log.ts";

function recording(level: LogLevel = "info") {
  const lines: string[] = [];
  const log = logger({ level, write: (line) => lines.push(line), now: () => new Date(0) });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") };
}

test("an event is one line of JSON with time, level, message and the bound fields", () => {
  const { log, lines } = recording();
  log.with({ controller: "cluster" }).with({ key: "ns/a" }).info("member\nadded", { action: "addLearner" });
  assert.equal(
    lines.join(""),
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"member\\nadded","controller":"cluster","key":"ns/a","action":"addLearner"}\n',
  );
});

test("what is below the level is not written", () => {
  const { log, lines } = recording("warn");
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).message),
    ["c", "d"],
  );
});

test("no field can take the place of time, level or message", () => {
  const { log, last } = recording();
  log.info("real", { message: "forged", level: "error", time: "never" });
  assert.deepEqual(last(), { time: "1970-01-01T00:00:00.000Z", level: "info", message: "real" });
});

const secrets: { name: string; fields: Record<string, unknown>; leak: string }[] = [
  { name: "a field named like one", fields: { token: "s3cret" }, leak: "s3cret" },
  { name: "a nested field", fields: { a: { b: [{ clientSecret: "s3cret" }] } }, leak: "s3cret" },
  {
    name: "a Secret's data",
    fields: { object: { kind: "Secret", data: { "tls.key": "czNjcmV0" } } },
    leak: "czNjcmV0",
  },
  { name: "a header", fields: { headers: { authorization: "Bearer s3cret" } }, leak: "s3cret" },
  { name: "a bearer token inside a text", fields: { note: "sent Bearer s3cret.x" }, leak: "s3cret" },
  {
    name: "a private key inside a text",
    fields: { note: "-----BEGIN EC PRIVATE KEY-----\ns3cret\n-----END EC PRIVATE KEY-----" },
    leak: "s3cret",
  },
  { name: "a password in an address", fields: { url: "https://me:s3cret@example.invalid/" }, leak: "s3cret" },
  { name: "an error's message", fields: { error: new Error("401 for Bearer s3cret") }, leak: "s3cret" },
  {
    name: "an error's other fields",
    fields: { error: Object.assign(new Error("no"), { request: "s3cret" }) },
    leak: "s3cret",
  },
  { name: "an error's cause", fields: { error: new Error("no", { cause: { password: "s3cret" } }) }, leak: "s3cret" },
  { name: "bytes", fields: { body: Buffer.from("s3cret") }, leak: "s3cret" },
];
for (const { name, fields, leak } of secrets) {
  test(`a secret does not get into the log by ${name}`, () => {
    const { log, lines } = recording();
    log.info("event", fields);
    assert.equal(lines.length, 1);
    assert.ok(!lines.join("").includes(leak), lines.join(""));
  });
}

test("the name of a secret is no secret", () => {
  const { log, last } = recording();
  log.info("event", { secretName: "etcd-tls", secretRef: "ns/x" });
  assert.equal(last().secretName, "etcd-tls");
  assert.equal(last().secretRef, "ns/x");
});

test("errors show what tells them apart, and their causes", () => {
  const { log, last } = recording();
  log.error("failed", { error: new Error("outer", { cause: new ApiError(409, "Conflict", "inner", [], 5) }) });
  assert.equal(last().error.message, "outer");
  const { name, message, code, reason, retryAfter } = last().error.cause;
  assert.deepEqual(
    { name, message, code, reason, retryAfter },
    {
      name: "ApiError",
      message: "inner",
      code: 409,
      reason: "Conflict",
      retryAfter: 5,
    },
  );
});

test("nothing that is logged can make logging fail", () => {
  const { log, last } = recording();
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const trap = {
    get boom(): string {
      throw new Error("boom");
    },
  };
  log.info("circle", { circle });
  assert.equal(last().message, "circle");
  log.info("trap", { trap });
  assert.equal(last().message, "trap");
  log.info("odd", {
    big: 1n << 64n,
    f: () => 1,
    u: undefined,
    n: Number.NaN,
    d: new Date(Number.NaN),
    m: new Map([["a", 1]]),
  });
  assert.equal(last().big, "18446744073709551616");
  log.info("long", { text: "x".repeat(100_000), list: Array.from({ length: 1000 }, () => 1) });
  assert.ok(JSON.stringify(last()).length < 10_000);
});

test("every line reaches a pipe although the process exits right after", () => {
  const program = `
    import { logger } from ${JSON.stringify(new URL("./log.ts", import.meta.url).href)};
    const log = logger();
    for (let i = 0; i < 2000; i++) log.info("line", { i, pad: "x".repeat(200) });
    process.exit(0);`;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { maxBuffer: 1 << 24 });
  assert.equal(run.stderr.toString(), "");
  const lines = run.stdout.toString().trimEnd().split("\n");
  assert.equal(lines.length, 2000);
  assert.equal(JSON.parse(lines.at(-1)!).i, 1999);
});

test("a text from elsewhere neither begins a line nor reaches a terminal as an order, and nothing of it is lost", () => {
  const { log, lines, last } = recording();
  const text = 'a\n{"level":"info"}\r\u001B[2J\u009B1m\u007F\u2028\u202Eb\uFEFF\uD83D';
  log.with({ [text]: text }).info(text, { error: new Error(text), nested: [{ text }] });
  assert.match(lines.join(""), /^[\x20-\x7E]*\n$/);
  assert.deepEqual([last().message, last()[text], last().nested], [text, text, [{ text }]]);
});
