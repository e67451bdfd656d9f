import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Liveness } from "./liveness.ts";

/** A peer that answers when the test says so, in a time that the test moves on. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  let now = 0;
  let dead = 0;
  const unanswered: (() => void)[] = [];
  const pingedAt: number[] = [];
  const ask = (answered: (error: Error | null) => void): void => {
    pingedAt.push(now);
    unanswered.push(() => answered(null));
  };
  const session = {
    destroyed: false,
    closed: false,
    ping: ask,
    settings: (_settings: object, answered: (error: Error | null) => void) => ask(answered),
  };
  const options = { pingInterval: 100, pingTimeout: 50 };
  const liveness = new Liveness(
    session,
    options,
    () => (dead += 1),
    () => now,
  );
  return {
    liveness,
    pingedAt,
    /** Whether the peer was found dead, after one more round of reading. */
    async dead() {
      await new Promise((resolve) => setImmediate(resolve));
      return dead > 0;
    },
    answer: () => unanswered.splice(0).forEach((answer) => answer()),
    /** Step by step, so that the clock agrees with the timers. */
    advance(ms: number) {
      for (let n = 0; n < ms; n += 1) {
        now += 1;
        t.mock.timers.tick(1);
      }
    },
  };
}

describe("liveness", () => {
  test("pings at each interval while streams are open", async (t) => {
    const peer = start(t);
    peer.liveness.busy();
    for (let n = 0; n < 3; n += 1) {
      peer.advance(100);
      peer.answer();
    }
    assert.deepEqual(peer.pingedAt, [100, 200, 300]);
    peer.advance(60);
    assert.equal(await peer.dead(), false);
  });

  test("does not ping a connection without streams", async (t) => {
    const peer = start(t);
    peer.liveness.busy();
    peer.liveness.idle();
    peer.advance(1000);
    assert.deepEqual(peer.pingedAt, []);
  });

  test("asks at once when a connection is used again after lying idle for long", async (t) => {
    const peer = start(t);
    peer.advance(500);
    peer.liveness.busy();
    assert.deepEqual(peer.pingedAt, [500]);
    peer.advance(50);
    assert.equal(await peer.dead(), true);
  });

  test("never pings more often than at each interval, however requests come and go", async (t) => {
    const peer = start(t);
    for (let n = 0; n < 100; n += 1) {
      peer.liveness.busy();
      peer.advance(3);
      peer.liveness.idle();
      peer.advance(n % 7 === 0 ? 40 : 2);
      peer.answer();
    }
    assert.ok(peer.pingedAt.length >= 5, `only ${peer.pingedAt.length} pings`);
    peer.pingedAt.reduce((before, at) => {
      assert.ok(at - before >= 100, `pinged at ${before} and ${at}`);
      return at;
    });
  });

  test("believes an answer that lay in the socket while this process stood still", async (t) => {
    const peer = start(t);
    peer.liveness.busy();
    peer.advance(150);
    peer.answer(); // read in the same turn in which the timeout fired
    assert.equal(await peer.dead(), false);
  });

  test("stops with its connection", async (t) => {
    const peer = start(t);
    peer.liveness.busy();
    peer.advance(100);
    peer.liveness.stop();
    peer.advance(1000);
    assert.deepEqual(peer.pingedAt, [100]);
    assert.equal(await peer.dead(), false);
  });
});
