// Informers while their API server suffers. Thousands of changes are made while it is killed, frozen, cut off, out of
// memory of the past or refuses its clients, and after each fault every informer has reported all of them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import { loopbackAddress } from "../../lab/config.ts";
import { freezeApi, stopApi } from "../../lab/faults/control-plane.ts";
import { startApi, thawApi } from "../../lab/faults/undo.ts";
import { say, waitFor } from "../../lab/progress.ts";
import { testLab } from "../support/lab.ts";
import { isMatrix, matrixTest } from "../support/matrix.ts";
import type { Reply } from "./proxy.ts";
import { endToken } from "./service-account.ts";
import { Stage } from "./stage.ts";
import type { Footprint } from "./watched.ts";

const lab = testLab();
const changesARound = isMatrix ? 1_550 : 775;
const fewestChanges = isMatrix ? 20_000 : 10_000;
let stage: Stage;

before(async () => {
  stage = await Stage.set(lab);
});
after(() => stage?.clear());

const expired = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410 };

async function etcdctl(...args: string[]): Promise<string> {
  return run(path.join(lab.bin, "etcdctl"), [`--endpoints=http://${loopbackAddress(lab)}:2379`, ...args]);
}

/** Harms while more changes are made, a few times over. */
async function severalTimes(harm: () => void): Promise<void> {
  for (let time = 0; time < 5; time += 1) {
    harm();
    await stage.writer.reached(stage.writer.changes + 150);
  }
}

/** Answers everybody with this until each kind was refused three times. */
async function refuseWith(reply: Reply): Promise<void> {
  const from = stage.proxy.requests.length;
  stage.proxy.reply = () => reply;
  stage.proxy.cutConnections();
  const times = (): number[] => {
    const refused = stage.proxy.requests.slice(from).filter(({ replied }) => replied === reply.status);
    return Object.values(Object.groupBy(refused, ({ path }) => resourceOf(path))).map(
      (requests) => requests?.length ?? 0,
    );
  };
  try {
    await waitFor(
      `each kind to be refused with ${reply.status}`,
      async () => (times().length === 3 && times().every((count) => count >= 3)) || undefined,
      { timeoutMs: 60_000, lastSeen: () => `refused ${times().join(", ")} times` },
    );
  } finally {
    stage.proxy.reply = () => undefined;
  }
}

const resourceOf = (path: string): string => path.slice(0, path.indexOf("?"));

function assertLists(lists: ReadonlyMap<string, number>, way: string, right: (count: number) => boolean): void {
  for (const [name, count] of lists) if (name.startsWith(way)) assert.ok(right(count), `${name} listed ${count} times`);
}

const never = (count: number): boolean => count === 0;
const atLeastOnce = (count: number): boolean => count >= 1;

test("nothing is lost while nothing happens", async () => {
  const lists = await stage.round(changesARound, async () => {});
  assertLists(lists, "", (count) => count <= 1);
});

test("nothing is lost when the API server is killed and starts again", async () => {
  await stage.round(changesARound, async () => {
    await stopApi(lab);
    await startApi(lab);
  });
});

test("nothing is lost when the API server stands still for 20 s", async () => {
  await stage.round(changesARound, async () => {
    await freezeApi(lab);
    try {
      await sleep(20_000);
    } finally {
      await thawApi(lab);
    }
  });
});

test("nothing is lost and nothing listed again when all connections are cut again and again", async () => {
  const lists = await stage.round(changesARound, () => severalTimes(() => stage.proxy.cutConnections()));
  assertLists(lists, "", never);
});

test("nothing is lost and nothing listed again when watches end cleanly in the middle of an event", async () => {
  const half = '{"type":"MODIFIED","object":{"kind":"ConfigMap","metadata":{"na';
  const lists = await stage.round(changesARound, () => severalTimes(() => stage.proxy.endWatches(half)));
  assertLists(lists, "", never);
});

matrixTest("nothing is lost when watches get an error in their stream that their place is gone", async () => {
  const event = `${JSON.stringify({ type: "ERROR", object: expired })}\n`;
  const lists = await stage.round(changesARound, async () => stage.proxy.endWatches(event));
  assertLists(lists, "proxied", atLeastOnce);
  assertLists(lists, "direct", never);
});

test("nothing is lost when watches are refused because their place is gone", async () => {
  const lists = await stage.round(changesARound, async () => {
    const failed = new Set<string>();
    stage.proxy.reply = (path) => {
      const resource = resourceOf(path);
      if (!path.includes("watch=1") || failed.has(resource)) return undefined;
      failed.add(resource);
      return { status: 410, body: expired };
    };
    stage.proxy.cutConnections();
  });
  stage.proxy.reply = () => undefined;
  assertLists(lists, "proxied", atLeastOnce);
  assertLists(lists, "direct", never);
});

test("nothing is lost when the API server has too much to do, and it is left alone for as long as it asks", async () => {
  const from = stage.proxy.requests.length;
  const body = { ...expired, reason: "TooManyRequests", code: 429 };
  await stage.round(changesARound, () => refuseWith({ status: 429, headers: { "retry-after": "1" }, body }));
  const refused = stage.proxy.requests.slice(from).filter(({ replied }) => replied === 429);
  for (const { path, at } of refused) {
    const next = stage.proxy.requests
      .slice(from)
      .find((other) => resourceOf(other.path) === resourceOf(path) && other.at > at);
    assert.ok(next !== undefined && next.at - at >= 1_000, `${path} came again after ${next && next.at - at} ms`);
  }
});

matrixTest("nothing is lost when the API server fails inside", async () => {
  const body = { ...expired, reason: "InternalError", code: 500 };
  await stage.round(changesARound, () => refuseWith({ status: 500, body }));
});

test("nothing is lost when the past is compacted away while informers are cut off", async () => {
  const { proxy, writer } = stage;
  const lists = await stage.round(changesARound, async () => {
    proxy.refuses = true;
    proxy.cutConnections();
    await writer.reached(writer.changes + 700);
    // Watches are served from the API server's memory of events: only a new one has to go by what etcd remembers.
    await stopApi(lab);
    try {
      await etcdctl("put", "/kube-faults", "a revision that no informer has seen");
      const status = JSON.parse(await etcdctl("endpoint", "status", "--write-out=json"));
      await etcdctl("compact", String(status[0].Status.header.revision));
    } finally {
      await startApi(lab);
      proxy.refuses = false;
    }
  });
  assertLists(lists, "", atLeastOnce);
});

matrixTest(
  "nothing is lost and nothing listed again when the token was replaced and the old one has ended",
  async () => {
    const old = stage.token;
    stage.token = await stage.newToken();
    const lists = await stage.round(changesARound, async () => {
      stage.credentials.put(stage.token);
      await endToken(lab, stage.admin, stage.namespace, old);
      stage.proxy.cutConnections();
    });
    assertLists(lists, "", never);
  },
);

test("nothing is lost and nothing listed again when the new token comes after the old one has ended", async () => {
  const old = stage.token;
  stage.token = await stage.newToken();
  const lists = await stage.round(changesARound, async () => {
    await endToken(lab, stage.admin, stage.namespace, old);
    const seen = stage.proxy.requests.length;
    stage.proxy.cutConnections();
    // Each of the three informers asks with the dead token, and asks again after it was refused.
    const asked = (): number => stage.proxy.requests.length - seen;
    await waitFor("six requests", async () => asked() >= 6 || undefined, {
      timeoutMs: 60_000,
      lastSeen: () => String(asked()),
    });
    stage.credentials.put(stage.token);
  });
  assertLists(lists, "", never);
});

test("nothing is lost and nothing listed again when one watch is refused, and its connection is closed to all but the others", async () => {
  let refused = false;
  const lists = await stage.round(changesARound, async () => {
    // An API server that refuses a token takes no more requests on the connection that it came over.
    stage.proxy.spoilsToken = (path) => {
      const first = path.includes("/configmaps?watch=1") && !refused;
      refused ||= first;
      return first;
    };
    stage.proxy.endWatches("", "configmaps");
  });
  stage.proxy.spoilsToken = () => false;
  assert.ok(refused);
  assertLists(lists, "", never);
});

test(`after at least ${fewestChanges} changes and every fault, memory and connections are as they were`, async () => {
  // A connection that is closed to new requests lives as long as its watches do: once more all come together on one.
  await stage.round(changesARound, async () => stage.proxy.cutConnections());
  for (let round = 0; round < 2; round += 1) await stage.round(changesARound, async () => {});
  assert.ok(stage.writer.changes >= fewestChanges, `${stage.writer.changes} changes`);
  const { footprints } = stage;
  const [first, last] = [footprints.slice(0, 3), footprints.slice(-3)];
  const growth = (of: keyof Footprint): number => median(last, of) - median(first, of);
  const steps = [...stage.child.checkers.values()].map((checker) => `${checker.steps}`);
  say(`  ${stage.writer.changes} changes, reported one by one: ${steps.join(", ")}`);
  for (const at of ["rss", "heap", "fileDescriptors", "connections", "activeResources"] as const)
    say(`  ${at}: ${footprints.map((footprint) => footprint[at]).join(" ")}`);
  const mebibyte = 1 << 20;
  assert.ok(growth("heap") < 3 * mebibyte, `the heap grew by ${growth("heap")} bytes`);
  assert.ok(growth("rss") < 24 * mebibyte, `the memory grew by ${growth("rss")} bytes`);
  assert.ok(growth("fileDescriptors") <= 0, `${growth("fileDescriptors")} more file descriptors`);
  assert.ok(growth("connections") <= 0, `${growth("connections")} more connections`);
  assert.ok(growth("activeResources") <= 2, `${growth("activeResources")} more resources`);
});

function median(footprints: readonly Footprint[], of: keyof Footprint): number {
  const values = footprints.map((footprint) => footprint[of]).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}
