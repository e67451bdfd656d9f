// What Node and nghttp2 are trusted with: a server that floods a connection with frames that no receiver sees is cut off by
// them. Nothing here has limits of its own for that, so that a Node without them is noticed.
import assert from "node:assert/strict";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import { createAuthority } from "./testing/certificates.ts";
import { startServer } from "./testing/local-server.ts";
import { failsWith, get, openOrigin } from "./testing/open-origin.ts";

const perTurn = 100;

type Flood = (session: ServerHttp2Session, stream: ServerHttp2Stream, n: number) => void;

const floods: Readonly<Record<string, Flood>> = {
  "names of other origins": (session, _, n) => session.origin(`https://host-${n}.example.com`),
  settings: (session, _, n) => session.settings({ initialWindowSize: 65_535 + (n % 1000) }),
  "early hints": (_, stream, n) => stream.additionalHeaders({ ":status": 103, "x-hint": "v".repeat(4000) + n }),
};

describe("a server that sends, without end,", () => {
  for (const [what, flood] of Object.entries(floods))
    test(`${what} is cut off`, async () => {
      const authority = await createAuthority("ca");
      const { cert, key } = await authority.issue("server", { hosts: ["127.0.0.1"] });
      const more = (stream: ServerHttp2Stream, from: number): void => {
        const [session] = server.sessions;
        for (let n = from; n < from + perTurn; n += 1) {
          if (stream.destroyed || session === undefined || session.destroyed) return;
          flood(session, stream, n);
        }
        setImmediate(() => more(stream, from + perTurn));
      };
      await using server = await startServer((stream) => more(stream, 0), {
        tls: true,
        cert,
        key,
        maxSessionMemory: 1000,
      });
      using client = openOrigin(server.url, { tls: () => ({ ca: authority.cert }) });
      await assert.rejects(client.origin.fetch(get("/")), failsWith("broken"));
    });
});
