import assert from "node:assert/strict";
import { test } from "node:test";
import { lastWordsOf } from "./last-words.ts";

const entry = (fields: object): string => JSON.stringify({ ts: "2026-01-31T12:00:00Z", caller: "x.go:1", ...fields });
const info = entry({ level: "info", msg: "closed etcd server" });

const logs: [string, string[], string | undefined][] = [
  ["nothing at all", [""], undefined],
  ["only what went well", [info], undefined],
  [
    "a variable that is wrong, told as a warning",
    [info, entry({ level: "warn", msg: "failed to verify flags", error: "invalid value" })],
    "failed to verify flags: invalid value",
  ],
  [
    "a fatal entry after what led to it",
    [
      entry({ level: "warn", msg: "failed to get cluster response", error: "no such host" }),
      info,
      entry({ level: "fatal", msg: "discovery failed", error: "cannot fetch cluster info", stacktrace: "main.main" }),
    ],
    "discovery failed: cannot fetch cluster info",
  ],
  ["a beginning that was cut off", ['rgs":["--name=a"]}', entry({ level: "error", msg: "no space" })], "no space"],
  [
    "a log of etcd 3.2",
    ["2018-01-31 12:00:00.1 I | etcdmain: starting", "2018-01-31 12:00:00.2 C | etcdmain: listen tcp: in use"],
    "etcdmain: listen tcp: in use",
  ],
  [
    "a panic",
    [info, "panic: detected disallowed v2 WAL", "", "goroutine 170 [running]:", "main.go:196 +0x54"],
    "panic: detected disallowed v2 WAL",
  ],
  [
    "a panic whose reason was cut off",
    ["etcd/pkg/v3/schedule.job.Do(...)", "etcd/pkg/v3@v3.6.16/schedule/schedule.go:202 +0x2c7"],
    "panic: the log before its stack has the reason",
  ],
  [
    "a log of etcd 3.2 that only warns",
    ["2018-01-31 12:00:00.1 W | etcdserver: no such host", "2018-01-31 12:00:00.2 I | etcdmain: closing"],
    "etcdserver: no such host",
  ],
  [
    "a flag that cannot be read",
    ['invalid value "often" for flag -heartbeat-interval: parse error', "Usage:", "  etcd [flags]"],
    'invalid value "often" for flag -heartbeat-interval: parse error',
  ],
];
for (const [what, lines, words] of logs)
  test(`the last words of ${what} are ${words === undefined ? "none" : `"${words}"`}`, () => {
    assert.equal(lastWordsOf(lines.join("\n")), words);
  });

test("no words are longer than a person reads", () => {
  assert.equal(lastWordsOf("x".repeat(5000))?.length, 401);
  assert.equal(lastWordsOf("x".repeat(400)), "x".repeat(400));
});
