import assert from "node:assert/strict";
import { test } from "node:test";
import { parseListenAddress } from "./listen-address.ts";

test("addresses with and without host, and of IPv6, are understood", () => {
  const cases: [string, ReturnType<typeof parseListenAddress>][] = [
    [":8080", { t: "tcp", host: undefined, port: 8080 }],
    // As Go understands it.
    ["0.0.0.0:8080", { t: "tcp", host: undefined, port: 8080 }],
    ["127.0.0.1:0", { t: "tcp", host: "127.0.0.1", port: 0 }],
    ["localhost:80", { t: "tcp", host: "localhost", port: 80 }],
    ["[::1]:9090", { t: "tcp", host: "::1", port: 9090 }],
    ["[::]:9090", { t: "tcp", host: "::", port: 9090 }],
    ["0", { t: "nowhere" }],
    ["", { t: "nowhere" }],
  ];
  for (const [text, address] of cases) assert.deepEqual(parseListenAddress(text), address);
});

test("what is no address is refused with a sentence that says what is", () => {
  for (const text of ["8080", "host", "host:", "::1:8080", "host:99999", "host:http", "[::1]", "a:b:1"]) {
    assert.throws(() => parseListenAddress(text), /write host:port/, text);
  }
});
